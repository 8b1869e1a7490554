// The scenario runs that fit what is chosen: a page of them, each with its findings, all of its checks when open.

const PAGE = 40;
const CLOSED = 8; // checks that a closed run shows at most
const OPEN = 80; // checks that an open run shows at once
const ORDER = ['failed', 'incomplete', 'passed with warnings', 'passed', 'not applicable'];

// What a check is searched by, put together when somebody first searches.
function textOf(check) {
  if (check.text === undefined) {
    const said = (check.findings || []).flatMap((one) => [one.expected, one.observed, one.statement]);
    const words = [check.id, data.titles[check.id], ...Object.keys(rowsOf(check)), check.verdict, ...said];
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

// A run fits if it is named itself, or one of its checks is, with the run's own words beside.
function sought(cell, words) {
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
  const found = [];
  for (const cell of data.cells) {
    const linked = cell.key === state.run; // whatever a link opens is there
    if (!linked && !isChosen(cell)) continue;
    const { fits, checks } = words.length ? sought(cell, words) : { fits: true, checks: [] };
    if (linked || fits) found.push({ cell, checks: state.only ? checks.filter(isFinding) : checks });
  }
  return found.sort((one, other) => ORDER.indexOf(one.cell.outcome) - ORDER.indexOf(other.cell.outcome));
}

function showList() {
  const found = chosenRuns();
  const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
  const linked = Math.floor(Math.max(0, found.findIndex((one) => one.cell.key === state.run)) / PAGE);
  const page = Math.min(last, state.page ? Number(state.page) - 1 || 0 : linked);
  const shown = found.slice(page * PAGE, (page + 1) * PAGE);
  byId('runs').replaceChildren(...shown.map(runView));
  if (!shown.length) byId('runs').append(make('p', { class: 'muted' }, 'Nothing fits.'));
  const findings = found.reduce((sum, { cell }) => sum + cell.checks.filter(isFinding).length, 0);
  byId('count').textContent = count(found.length, 'scenario run') + ', ' + count(findings, 'check') + ' with findings';
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
  const told = make('span', {}, 'Page ' + (page + 1) + ' of ' + (last + 1));
  byId('pager').replaceChildren(...(last ? [step(page - 1, 'Previous'), told, step(page + 1, 'Next')] : []));
}

function runView({ cell, checks }) {
  const open = state.run === cell.key;
  const toggle = () => go({ run: open ? '' : cell.key, check: '', view: '' });
  const again = cell.attempt > 1 ? ' \u00b7 attempt ' + cell.attempt : '';
  const head = make('h3', {},
    make('button', { type: 'button', class: 'opener', 'aria-expanded': String(open), 'data-key': cell.key, click: toggle },
      make('i', { class: 'dot ' + styleOf(cell.outcome) }),
      make('code', {}, plain(cell.scenario)),
      make('span', { class: 'title' }, plain(cell.title)),
      make('span', { class: 'place' }, cell.transport + ' \u00b7 ' + cell.revision + again),
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
  if (!checks.length) list.append(make('li', { class: 'muted' }, 'No check was made.'));
  return some(list, checks, (check) => checkView(cell, check), Math.max(OPEN, at + 1), 'check');
}

function closedChecks(cell, matching) {
  const noted = matching.length ? matching : cell.checks.filter(isFinding);
  const list = make('ul', { class: 'checks' });
  list.append(...findingsFirst(noted).slice(0, CLOSED).map((check) => checkView(cell, check)));
  const left = noted.length - CLOSED;
  if (left > 0) list.append(make('li', { class: 'muted' }, 'and ' + count(left, 'more check') + ': open the run'));
  return noted.length ? list : document.createDocumentFragment();
}
