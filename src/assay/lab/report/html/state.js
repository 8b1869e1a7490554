// The URL's hash determines what the page shows: every state has a link, and Back works.

const FIELDS = ['tab', 'area', 'revision', 'transport', 'outcome', 'q', 'only', 'cover', 'page', 'run', 'check', 'view'];
const FILTERS = ['area', 'revision', 'transport', 'outcome', 'q', 'only'];
let state = {};

function stateOf(hash) {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  return Object.fromEntries(FIELDS.map((name) => [name, params.get(name) || '']));
}

function hashOf(target) {
  const pairs = FIELDS.filter((name) => target[name]).map((name) => [name, target[name]]);
  return '#' + new URLSearchParams(pairs).toString().replace(/%2F/g, '/');
}

// Adds a history entry; typing replaces the last entry instead.
function go(changes, { typing = false } = {}) {
  const hash = hashOf({ ...state, ...changes });
  if (!typing) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, '', hash);
  follow();
}

// New filters start on the first page, with nothing open.
function choose(changes, options) {
  go({ page: '', run: '', check: '', view: '', ...changes }, options);
}

function follow() {
  const hash = location.hash;
  if (hash.length > 1 && !hash.includes('=')) return; // an anchor in the page, such as the skip link's target
  const before = state;
  state = stateOf(hash);
  show(before);
}
