// All that the page shows follows from the hash of its address: any state is a link, and Back goes back.

const FIELDS = ['tab', 'area', 'revision', 'transport', 'outcome', 'q', 'only', 'cover', 'page', 'run', 'check', 'view'];
const FILTERS = ['area', 'revision', 'transport', 'outcome', 'q', 'only'];
let state = {};

function stateOf(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ''));
  return Object.fromEntries(FIELDS.map((name) => [name, found.get(name) || '']));
}

function hashOf(wanted) {
  const pairs = FIELDS.filter((name) => wanted[name]).map((name) => [name, wanted[name]]);
  return '#' + new URLSearchParams(pairs).toString().replace(/%2F/g, '/');
}

// A step that Back should undo; typing replaces the last one instead.
function go(changes, { typing = false } = {}) {
  const hash = hashOf({ ...state, ...changes });
  if (!typing) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, '', hash);
  follow();
}

// Another choice of runs begins on its first page, with nothing open.
function choose(changes, options) {
  go({ page: '', run: '', check: '', view: '', ...changes }, options);
}

function follow() {
  const hash = location.hash;
  if (hash.length > 1 && !hash.includes('=')) return; // a place in the page, such as the target of a skip link
  const before = state;
  state = stateOf(hash);
  show(before);
}
