// A page of the scenario runs that match the filters: each with its findings, or all its checks when open.

const PAGE = 40;
const CLOSED = 8; // checks that a closed run shows at most
const OPEN = 80; // checks that an open run shows at once
const ORDER = ['failed', 'incomplete', 'passed with warnings', 'passed', 'not applicable'];

// The searchable text of a check, built on the first search.
function textOf(check) {
  if (check.text === undefined) {
    const texts = (check.findings || []).flatMap((finding) =>
      [finding.title, finding.expected, finding.observed, finding.statement]);
    const words = [check.id, data.titles[check.id], ...Object.keys(rowsOf(check)), check.verdict, ...texts];
    check.text = words.join(' ').toLowerCase();
  }
  return check.text;
}

function headOf(cell) {
  const parts = [cell.scenario, cell.title, cell.official, cell.transport, cell.revision, cell.outcome, cell.reason];
  return parts.join(' ').toLowerCase();
}

function wordsOf(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

// A run matches if all words are in its own text, or in that of the run and one of its checks.
function search(cell, words) {
  const head = headOf(cell);
  const left = words.filter((word) => !head.includes(word));
  if (!left.length) return { fits: true, checks: [] };
  const checks = cell.checks.filter((check) => {
    const text = textOf(check);
    return left.every((word) => text.includes(word));
  });
  return { fits: checks.length > 0, checks };
}

function isChosen(cell) {
  const same = ['area', 'revision', 'transport', 'outcome'].every((name) => !state[name] || cell[name] === state[name]);
  return same && (!state.only || cell.checks.some(isFinding));
}

function chosenRuns() {
  const words = wordsOf(state.q);
  const runs = [];
  for (const cell of data.cells) {
    const linked = cell.key === state.run; // the target of a link is always listed
    if (!linked && !isChosen(cell)) continue;
    const { fits, checks } = words.length ? search(cell, words) : { fits: true, checks: [] };
    if (linked || fits) runs.push({ cell, checks: state.only ? checks.filter(isFinding) : checks });
  }
  return runs.sort((left, right) => ORDER.indexOf(left.cell.outcome) - ORDER.indexOf(right.cell.outcome));
}

function showList() {
  const runs = chosenRuns();
  const last = Math.max(0, Math.ceil(runs.length / PAGE) - 1);
  const linked = Math.floor(Math.max(0, runs.findIndex(({ cell }) => cell.key === state.run)) / PAGE);
  const page = Math.min(last, state.page ? Number(state.page) - 1 || 0 : linked);
  const shown = runs.slice(page * PAGE, (page + 1) * PAGE);
  warned.clear();
  byId('runs').replaceChildren(...shown.map(runView));
  if (!shown.length) byId('runs').append(make('p', { class: 'muted' }, 'No matches.'));
  const findings = runs.reduce((sum, { cell }) => sum + cell.checks.filter(isFinding).length, 0);
  byId('count').textContent = count(runs.length, 'scenario run') + ', ' + count(findings, 'check') + ' with findings';
  showChosen();
  showPager(page, last);
}

function showChosen() {
  const named = ['area', 'revision'].filter((name) => state[name]).map((name) => state[name]);
  const chosen = byId('chosen');
  chosen.replaceChildren(named.length ? make('b', {}, named.join(' at ')) : '');
  if (FILTERS.some((name) => state[name]) || state.run) {
    chosen.append(' ', make('a', { href: '#', class: 'clear' }, 'Show everything'));
  }
}

function showPager(page, last) {
  const step = (to, name) => make('button', { type: 'button', 'data-key': 'page:' + name, disabled: to < 0 || to > last,
    click: () => { choose({ page: String(to + 1) }); byId('list-title').scrollIntoView(); } }, name);
  const current = make('span', {}, 'Page ' + (page + 1) + ' of ' + (last + 1));
  byId('pager').replaceChildren(...(last ? [step(page - 1, 'Previous'), current, step(page + 1, 'Next')] : []));
}

function runView({ cell, checks }) {
  const open = state.run === cell.key;
  const toggle = () => go({ run: open ? '' : cell.key, check: '', view: '' });
  const attempt = cell.attempt > 1 ? ' \u00b7 attempt ' + cell.attempt : '';
  const head = make('h3', {},
    make('button', { type: 'button', class: 'opener', 'aria-expanded': String(open), 'data-key': cell.key, click: toggle },
      make('i', { class: 'dot ' + styleOf(cell.outcome) }),
      make('code', {}, plain(cell.scenario)),
      make('span', { class: 'title' }, plain(cell.title)),
      make('span', { class: 'took' }, cell.seconds ? cell.seconds.toFixed(2) + ' s' : ''),
      make('span', { class: 'place' }, cell.transport + ' \u00b7 ' + cell.revision + attempt),
      make('span', { class: 'outcome ' + styleOf(cell.outcome) }, cell.outcome)));
  const view = make('section', { class: 'run' + (open ? ' open' : ''), 'aria-label': cell.key }, head);
  if (cell.reason) view.append(make('p', { class: 'reason' }, plain(cell.reason)));
  view.append(open ? openChecks(cell) : closedChecks(cell, checks));
  return view;
}

const findingsFirst = (checks) => [...checks.filter(isFinding), ...checks.filter((check) => !isFinding(check))];

function openChecks(cell) {
  const checks = findingsFirst(cell.checks);
  const at = checks.findIndex((check) => check.id === state.check);
  const list = make('ul', { class: 'checks' });
  if (!checks.length) list.append(make('li', { class: 'muted' }, 'No checks.'));
  return some(list, checks, (check) => checkView(cell, check), Math.max(OPEN, at + 1), 'check');
}

// Warnings that a run above shows already: the same one in fifty runs is one line in each.
const warned = new Set();

function isRepeated(check) {
  if (check.verdict !== 'WARNING') return false;
  const repeated = warned.has(check.id);
  warned.add(check.id);
  return repeated;
}

function closedChecks(cell, matching) {
  const every = matching.length ? matching : cell.checks.filter(isFinding);
  const repeated = matching.length ? [] : every.filter(isRepeated);
  const checks = every.filter((check) => !repeated.includes(check));
  const list = make('ul', { class: 'checks' });
  list.append(...findingsFirst(checks).slice(0, CLOSED).map((check) => checkView(cell, check)));
  const left = checks.length - CLOSED;
  if (left > 0) list.append(make('li', { class: 'muted' }, 'and ' + count(left, 'more check') + ': open the run'));
  if (repeated.length) {
    const names = repeated.map((check) => plain(check.id)).join(', ');
    list.append(make('li', { class: 'muted' }, count(repeated.length, 'warning') + ' as above: ' + names));
  }
  return every.length ? list : document.createDocumentFragment();
}
