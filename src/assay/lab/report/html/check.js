// One check of a scenario run: a line, with its findings and frames when open.

const FINDING_VERDICTS = ['FAILURE', 'WARNING'];
const FINDINGS = 6; // shown at once
const isFinding = (check) => FINDING_VERDICTS.includes(check.verdict);
const rowsOf = (check) => (check.cited === undefined ? {} : data.citations[check.cited]);
// The fault for a check with findings, else the rule.
const titleOf = (check) => (check.findings && check.findings[0].title) || data.titles[check.id];

function checkView(cell, check) {
  const open = state.run === cell.key && state.check === check.id;
  const key = cell.key + ':' + check.id;
  const toggle = () => go({ run: cell.key, check: open ? '' : check.id, view: '' });
  const head = make('div', { class: 'line' },
    make('button', { type: 'button', class: 'opener', 'aria-expanded': String(open), 'data-key': key, click: toggle },
      badge(check.verdict),
      make('span', { class: 'title' }, ...ticked(titleOf(check))),
      make('code', {}, plain(check.id)),
      check.expected ? make('small', {}, 'expected') : ''),
    make('span', { class: 'rows' }, Object.keys(rowsOf(check)).join(' ')),
    make('a', { class: 'permalink', href: hashOf({ run: cell.key, check: check.id }),
      'aria-label': 'Link to this check' }, '#'));
  const view = make('li', { class: 'check ' + styleOf(check.verdict) + (open ? ' open' : '') }, head);
  if (open) view.append(detailView(cell, check));
  return view;
}

function detailView(cell, check) {
  const findings = check.findings || [];
  const cited = new Set(findings.flatMap((finding) => finding.frames));
  const detail = make('div', { class: 'detail' });
  some(detail, distinct(findings), (group) => findingView(group, titleOf(check)), FINDINGS, 'finding');
  if (!findings.length) detail.append(quietView(check));
  detail.append(evidenceView(cell, cited));
  return detail;
}

function quietView(check) {
  const rows = Object.entries(rowsOf(check)).map(([row, page]) => link(page, row));
  const held = check.verdict === 'SUCCESS' ? 'Held in ' + count(check.seen, 'observation') + '.' : '';
  return make('div', { class: 'quiet' },
    make('p', {}, plain(check.reason || held)),
    make('p', { class: 'muted' }, rows.length ? 'Cites ' : '', ...rows.flatMap((row) => [row, ' '])));
}

// Findings that say the same about different frames are shown once.
function distinct(findings) {
  const groups = new Map();
  for (const finding of findings) {
    const key = [finding.requirement, finding.title, finding.expected, finding.observed].join('\n');
    groups.set(key, [...(groups.get(key) || []), finding]);
  }
  return [...groups.values()];
}

function findingView(group, shown) {
  const [finding, ...others] = group;
  return make('article', { class: 'finding' },
    finding.title && finding.title !== shown ? make('h5', {}, ...ticked(finding.title)) : '',
    make('p', { class: 'rule' }, link(finding.link, finding.requirement), make('b', {}, ' ' + finding.level + ' '),
      ...ticked(finding.statement)),
    finding.follows_from ? make('p', { class: 'muted' }, followsText(finding)) : '',
    make('dl', { class: 'beside' },
      make('div', {}, make('dt', {}, 'Expected'), make('dd', {}, plain(finding.expected))),
      make('div', { class: 'observed' }, make('dt', {}, 'Observed'), make('dd', {}, plain(finding.observed)))),
    finding.fix ? make('p', { class: 'fix' }, make('b', {}, 'Fix '), ...ticked(finding.fix)) : '',
    finding.reproduce ? reproduceView(finding) : '',
    others.length ? make('p', { class: 'again' }, 'The same in ' + count(others.length, 'other exchange') + '.') : '',
    finding.excerpt ? make('pre', { class: 'excerpt', tabindex: '0' }, plain(finding.excerpt.join('\n'))) : '');
}

// Why a finding does not count.
function followsText(finding) {
  return finding.follows_from === finding.requirement
    ? 'Counted in another scenario, which tests for it.'
    : 'Follows from ' + finding.follows_from + '.';
}

function reproduceView(finding) {
  return make('div', { class: 'reproduce' }, make('h5', {}, 'Repeat'), commandLine(finding.reproduce));
}
