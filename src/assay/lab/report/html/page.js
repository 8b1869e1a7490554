// Data, controls, and the rendering of each state.

const data = JSON.parse(byId('run').textContent);
data.cells.forEach((cell, number) => { cell.number = number; });

function show(before) {
  const covering = state.tab === 'coverage' && Boolean(byId('coverage'));
  byId('results').hidden = covering;
  setCurrent(byId('to-results'), !covering);
  if (byId('coverage')) {
    byId('coverage').hidden = !covering;
    setCurrent(byId('to-coverage'), covering);
  }
  if (covering) showRules();
  else showResults(before);
}

function setCurrent(element, on) {
  if (on) element.setAttribute('aria-current', 'page');
  else element.removeAttribute('aria-current');
}

function showResults(before) {
  const focused = document.activeElement && document.activeElement.dataset.key;
  if (byId('broken')) byId('broken').hidden = FILTERS.some((name) => state[name]) || Boolean(state.run || state.page);
  showControls();
  showList();
  showMatrix();
  if (focused) {
    const element = document.querySelector('[data-key="' + CSS.escape(focused) + '"]');
    if (element) element.focus({ preventScroll: true });
  }
  if (before.run === undefined || state.run !== before.run || state.check !== before.check) reveal();
}

// Scrolls to the check or run that a link opens.
function reveal() {
  const opened = document.querySelector('.check.open') || document.querySelector('.run.open');
  if (!opened) return;
  const place = opened.getBoundingClientRect();
  if (place.top < 0 || place.top > innerHeight * 0.6) opened.scrollIntoView({ block: 'start' });
}

function showControls() {
  if (document.activeElement !== byId('search')) byId('search').value = state.q;
  byId('only').checked = Boolean(state.only);
  for (const name of ['transport', 'outcome']) byId(name).value = state[name];
}

function showMatrix() {
  for (const anchor of document.querySelectorAll('.matrix a, .outcomes a')) {
    const target = stateOf(anchor.getAttribute('href'));
    const filtered = ['area', 'revision', 'outcome'].some((name) => state[name]);
    const same = ['area', 'revision', 'outcome'].every((name) => target[name] === state[name]);
    if (filtered && same) anchor.setAttribute('aria-current', 'true');
    else anchor.removeAttribute('aria-current');
  }
}

function showRules() {
  if (document.activeElement !== byId('rule-search')) byId('rule-search').value = state.q;
  byId('cover').value = state.cover;
  byId('broken-here').checked = Boolean(state.only);
  const words = wordsOf(state.q);
  const narrowed = Boolean(state.q || state.cover || state.only || state.area);
  let shown = 0;
  for (const area of document.querySelectorAll('.rules')) {
    let here = 0;
    for (const row of area.querySelectorAll('tbody tr')) {
      row.hidden = !fitsRule(row, area.dataset.area, words);
      here += row.hidden ? 0 : 1;
    }
    area.hidden = !here;
    area.open = narrowed && here > 0;
    shown += here;
  }
  byId('rule-count').textContent = count(shown, 'rule');
}

function fitsRule(row, area, words) {
  if (state.area && state.area !== area) return false;
  if (state.cover && !row.dataset.kinds.split(' ').includes(state.cover)) return false;
  if (state.only && row.dataset.broken === '0') return false;
  const text = row.textContent.toLowerCase();
  return words.every((word) => text.includes(word));
}

function fillSelects() {
  for (const name of ['transport', 'outcome']) {
    const values = [...new Set(data.cells.map((cell) => cell[name]))];
    byId(name).append(...values.map((value) => make('option', {}, value)));
    byId(name).addEventListener('change', (event) => choose({ [name]: event.target.value }));
  }
}

function listen() {
  byId('search').addEventListener('input', (event) => choose({ q: event.target.value }, { typing: true }));
  byId('only').addEventListener('change', (event) => choose({ only: event.target.checked ? 'findings' : '' }));
  if (byId('coverage')) {
    byId('rule-search').addEventListener('input', (event) => go({ q: event.target.value }, { typing: true }));
    byId('cover').addEventListener('change', (event) => go({ cover: event.target.value }));
    byId('broken-here').addEventListener('change', (event) => go({ only: event.target.checked ? 'findings' : '' }));
  }
  addEventListener('hashchange', follow);
  addEventListener('keydown', onKey);
}

function onKey(event) {
  const field = state.tab === 'coverage' ? byId('rule-search') : byId('search');
  const writing = event.target.closest('input, select, textarea');
  if (event.key === '/' && !writing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    field.focus();
  }
  if (event.key === 'Escape' && event.target === field) {
    field.value = '';
    choose({ q: '' }, { typing: true });
  }
}

// Follows the system until the button is pressed; stored if the browser has storage for files.
function theme() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let current = storedTheme() || (dark.matches ? 'dark' : 'light');
  function apply() {
    document.documentElement.dataset.theme = current;
    byId('theme').setAttribute('aria-pressed', String(current === 'dark'));
  }
  dark.addEventListener('change', () => { if (!storedTheme()) { current = dark.matches ? 'dark' : 'light'; apply(); } });
  byId('theme').addEventListener('click', () => {
    current = current === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('assay-theme', current); } catch { /* lasts for this page only */ }
    apply();
  });
  apply();
}

function storedTheme() {
  try {
    return localStorage.getItem('assay-theme');
  } catch {
    return null;
  }
}

theme();
fillSelects();
listen();
follow();
