"""Tables of the file, and the version of their form."""

from __future__ import annotations

from typing import Final

APPLICATION: Final = 0x41535359
"""What `PRAGMA application_id` says of a file that is ours."""
VERSION: Final = 1

TABLES: Final = """
create table totals (sessions integer not null, event_bytes integer not null, task_bytes integer not null);
insert into totals values (0, 0, 0);

create table sessions (
    id text primary key, version integer not null, client text not null, used real not null,
    listening integer not null, record blob not null
) without rowid;
create index sessions_by_use on sessions (used);
create index sessions_by_client on sessions (client, used);
create index sessions_listening on sessions (listening, id) where listening;
create table clients (client text primary key, sessions integer not null) without rowid;
create table subscriptions (
    uri text not null, session text not null, primary key (uri, session)
) without rowid;
create index subscriptions_by_session on subscriptions (session);

create table streams (
    session text not null, name text not null, last integer not null default 0,
    bytes integer not null default 0, finished integer not null default 0,
    worker text not null default '', reader text not null default '',
    delivered integer not null default 0, failure blob not null default x'',
    primary key (session, name)
) without rowid;
create table events (
    session text not null, stream text not null, number integer not null, data blob not null,
    primary key (session, stream, number)
) without rowid;

create trigger session_added after insert on sessions begin
    update totals set sessions = sessions + 1;
    insert into clients values (new.client, 1) on conflict do update set sessions = sessions + 1;
    insert or ignore into streams (session, name) values (new.id, '0');
end;
create trigger session_deleted after delete on sessions begin
    update totals set sessions = sessions - 1;
    update clients set sessions = sessions - 1 where client = old.client;
    delete from clients where client = old.client and sessions <= 0;
    delete from subscriptions where session = old.id;
    delete from streams where session = old.id;
end;
create trigger stream_deleted after delete on streams begin
    update totals set event_bytes = event_bytes - old.bytes;
    delete from events where session = old.session and stream = old.name;
end;
create trigger stream_grown after update of bytes on streams begin
    update totals set event_bytes = event_bytes + new.bytes - old.bytes;
end;

create table tasks (
    serial integer primary key autoincrement, id text not null unique, owner text not null,
    form text not null, worker text not null, version integer not null, expires real not null,
    finished integer not null, size integer not null, record blob not null
);
create index tasks_by_owner on tasks (owner, form, serial);
create index tasks_by_expiry on tasks (expires);
create index tasks_unfinished on tasks (worker) where not finished;
create trigger task_added after insert on tasks begin
    update totals set task_bytes = task_bytes + new.size;
end;
create trigger task_deleted after delete on tasks begin
    update totals set task_bytes = task_bytes - old.size;
end;
create trigger task_changed after update of size on tasks begin
    update totals set task_bytes = task_bytes + new.size - old.size;
end;

create table states (
    owner text primary key, version integer not null, used real not null, data blob not null
) without rowid;
create index states_by_use on states (used);
create table replays (key blob primary key, expires real not null) without rowid;
create index replays_by_expiry on replays (expires);
create table buckets (
    key text primary key, tokens real not null, filled_at real not null
) without rowid;
create index buckets_by_time on buckets (filled_at);

create table bus (
    id integer primary key autoincrement, at real not null, origin text not null,
    topic text not null, data blob not null
);
create table workers (name text primary key, seen real not null) without rowid;
"""
