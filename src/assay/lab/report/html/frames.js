// The frames between driver and subject: as a sequence diagram, or as raw bytes.

const AROUND = 1; // frames shown before and after a cited frame
const STEP = 40; // frames that a gap reveals at once
const FIRST = 24; // frames shown if none is cited

function framesOf(cell) {
  const stored = byId('trace-' + cell.number);
  const frames = stored && JSON.parse(stored.textContent);
  if (frames) frames.forEach((frame, n) => { if (n) frame.after = frame.t - frames[n - 1].t; });
  return frames;
}

function evidenceView(cell, cited) {
  const frames = framesOf(cell);
  if (!frames) return missingView(cell);
  const raw = state.view === 'raw';
  const view = raw ? rawView : arrowView;
  const list = make('ol', { class: raw ? 'raw' : 'sequence', 'aria-label': 'Frames' });
  if (!raw) list.append(make('li', { class: 'parties' }, ...parties().map((name) => make('b', {}, name))));
  list.append(...pieces(frames, cited).map((piece) => pieceView(piece, frames, cited, view)));
  const total = count(frames.length, 'frame') + (cited.size ? ', ' + cited.size + ' cited' : '');
  return make('section', { class: 'evidence' },
    make('div', { class: 'views' },
      make('h5', {}, 'Frames'), viewButton('', 'Sequence'), viewButton('raw', 'Raw'), make('small', {}, total),
      make('code', { class: 'file', title: plain(cell.trace) }, plain(cell.trace.split('/').pop()))),
    list);
}

// The client is on the left: the lab's driver if a server is judged, else the subject.
const parties = () => (data.role === 'client' ? ['client', 'lab'] : ['driver', 'subject']);
const isByClient = (frame) => (frame.from === 'driver') === (data.role !== 'client');

function viewButton(view, name) {
  const on = state.view === view;
  return make('button', { type: 'button', 'aria-pressed': String(on), 'data-key': 'view:' + name,
    click: () => go({ view }) }, name);
}

function missingView(cell) {
  if (!cell.trace) return make('p', { class: 'muted' }, 'No frames were stored.');
  const file = /^[\w./:-]+$/.test(cell.trace) ? cell.trace : "'" + cell.trace.replaceAll("'", "'\\''") + "'";
  return make('section', { class: 'evidence' },
    make('p', { class: 'muted' }, 'Frames ' + plain(cell.missing) + '. To see them:'),
    commandLine('assay judge ' + file + ' --format html > trace.html'));
}

// Consecutive frames that are shown or hidden: { first, end, shown }.
function pieces(frames, cited) {
  const isNear = (n) => [...cited].some((number) => Math.abs(number - n) <= AROUND);
  const isShown = cited.size ? isNear : (n) => n < FIRST;
  const list = [];
  for (let n = 0; n < frames.length; n += 1) {
    const last = list[list.length - 1];
    if (last && last.shown === isShown(n)) last.end = n + 1;
    else list.push({ first: n, end: n + 1, shown: isShown(n) });
  }
  return list;
}

function pieceView(piece, frames, cited, view) {
  const fragment = document.createDocumentFragment();
  if (!piece.shown) fragment.append(gapView(piece, frames, cited, view));
  else for (let n = piece.first; n < piece.end; n += 1) fragment.append(view(frames[n], cited.has(n)));
  return fragment;
}

function gapView(piece, frames, cited, view) {
  const row = make('li', { class: 'gap' }, make('button', { type: 'button', click: open },
    count(piece.end - piece.first, 'more frame')));
  function open() {
    const end = Math.min(piece.first + STEP, piece.end);
    const fresh = pieceView({ first: piece.first, end, shown: true }, frames, cited, view);
    const focus = fresh.firstElementChild.querySelector('button, pre');
    if (end < piece.end) fresh.append(gapView({ first: end, end: piece.end }, frames, cited, view));
    row.replaceWith(fresh);
    if (focus) focus.focus();
  }
  return row;
}

const seconds = (time) => time.toFixed(3) + ' s';

// The time since the frame before it: how long each step took.
const step = (frame) => (frame.after === undefined ? '' : ' +' + (frame.after * 1000).toFixed(frame.after < 0.01 ? 1 : 0) + ' ms');

function arrowView(frame, isCited) {
  const side = frame.kind === 'mark' ? 'mark' : isByClient(frame) ? 'rightward' : 'leftward';
  const body = make('div', { class: 'body', hidden: true });
  const button = make('button', { type: 'button', class: 'arrow', 'aria-expanded': 'false', click: toggle,
    'aria-label': labelOf(frame, isCited) },
    make('span', { class: 'text' }, plain(frame.text || frame.kind)),
    make('span', { class: 'note' }, plain(frame.note || '')));
  function toggle() {
    if (!body.firstChild) body.append(bodyView(frame));
    body.hidden = !body.hidden;
    button.setAttribute('aria-expanded', String(!body.hidden));
  }
  const still = ['end', 'exit', 'control', 'errors'].includes(frame.kind) ? 'still' : '';
  const marks = ['frame', side, isCited ? 'cited' : '', frame.bad ? 'bad' : still];
  return make('li', { class: marks.filter(Boolean).join(' ') },
    make('span', { class: 'time' }, make('b', {}, '#' + frame.n), ' ' + seconds(frame.t),
      make('small', {}, step(frame))),
    make('div', { class: 'lane' }, button), make('span', { class: 'channel' }, frame.channel), body);
}

function labelOf(frame, isCited) {
  const way = frame.kind === 'mark' ? 'mark' : 'from ' + parties()[isByClient(frame) ? 0 : 1];
  return ['frame ' + frame.n, way, plain(frame.text || frame.kind), plain(frame.note || ''), seconds(frame.t),
    isCited ? 'cited by a finding' : ''].filter(Boolean).join(', ');
}

function bodyView(frame) {
  const parts = Object.entries(frame.info || {}).map(([key, value]) => key + ': ' + JSON.stringify(value));
  if (frame.raw) parts.push(formatted(frame));
  if (frame.cut) parts.push('\u2026 and ' + count(frame.cut, 'more character') + ', in the trace');
  return make('pre', { tabindex: '0' }, plain(parts.join('\n') || 'empty'));
}

// Indents JSON for reading; the raw view shows the original bytes.
function formatted(frame) {
  if (frame.kind === 'event') return frame.raw.replace(/^(data: ?)(.*)$/gm, (_, name, data) => name + indented(data));
  const head = frame.kind === 'request' ? frame.raw.indexOf('\r\n\r\n') + 4 : 0;
  return head < 4 ? indented(frame.raw) : frame.raw.slice(0, head) + indented(frame.raw.slice(head));
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function rawView(frame, isCited) {
  const arrow = isByClient(frame) ? '\u2192' : '\u2190';
  const cut = frame.cut ? '\n\u2026 and ' + count(frame.cut, 'more character') + ', in the trace' : '';
  const text = frame.raw || (frame.info ? JSON.stringify(frame.info) : '');
  return make('li', { class: isCited ? 'cited' : '' },
    make('span', { class: 'time' }, arrow + ' #' + frame.n + ' ' + frame.channel + ' ' + frame.kind + ' ' + seconds(frame.t)),
    make('pre', { tabindex: '0' }, plain(text) + cut));
}
