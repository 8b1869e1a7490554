'use strict';
// Elements are built from names and text only: data from a subject is never parsed as markup.

const byId = (id) => document.getElementById(id);

function make(tag, fields, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === false || value === '') continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== ''));
  return element;
}

const INVISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\u{e0000}-\u{e0fff}]/gu;
const hex = (unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0');

// Shows characters that are invisible or change the text direction.
function plain(text) {
  return String(text).replace(INVISIBLE, (char) =>
    char < ' ' ? String.fromCharCode(0x2400 + char.charCodeAt(0)) : char.split('').map(hex).join(''));
}

// Text in backticks becomes code.
function ticked(text) {
  return plain(text).split('`').map((part, n) => (n % 2 ? make('code', {}, part) : part));
}

const styleOf = (word) => word.toLowerCase().replace(/ /g, '-');

function badge(word) {
  return make('span', { class: 'badge ' + styleOf(word) }, word);
}

function link(target, ...children) {
  const safe = /^https?:\/\//.test(target);
  return safe ? make('a', { href: target, rel: 'noreferrer' }, ...children) : make('span', {}, ...children);
}

const count = (number, noun) => number.toLocaleString('en') + ' ' + noun + (number === 1 ? '' : 's');

// Renders the first items, and a button for more: items cost nothing until they are shown.
function some(container, items, view, step, name) {
  let shown = 0;
  const button = make('button', { type: 'button', class: 'more', click: grow });
  function grow() {
    const focused = document.activeElement === button;
    const fresh = items.slice(shown, shown + step).map(view);
    button.before(...fresh);
    shown += fresh.length;
    button.textContent = 'Show ' + count(Math.min(step, items.length - shown), 'more ' + name);
    if (focused && fresh[0]) (fresh[0].querySelector('button, a') || fresh[0]).focus();
    if (shown >= items.length) button.remove();
  }
  container.append(button);
  grow();
  return container;
}

// Copies the text, not its escaped rendering; where the browser denies that, the rendering is selected.
function copying(text, shown) {
  const button = make('button', { type: 'button', class: 'copy', click: copy }, 'Copy');
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(shown);
      button.textContent = 'Selected: press Ctrl+C';
    }
  }
  return button;
}

function commandLine(text) {
  const shown = make('code', { tabindex: '0' }, plain(text));
  return make('div', { class: 'command' }, shown, copying(text, shown));
}
