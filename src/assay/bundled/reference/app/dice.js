"use strict";

// JSON-RPC with the host of the page, over `postMessage`. Messages of other windows are ignored.
const host = window.parent;
const waiting = new Map();
let lastId = 0;
let dice = 2;

function post(message) {
  // The origin of the host is unknown to a page in a sandbox; nothing secret is sent.
  host.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function request(method, params) {
  const id = ++lastId;
  post({ id, method, params });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function show(result) {
  const roll = result && result.structuredContent;
  const failed = !roll || result.isError === true || !Array.isArray(roll.rolls);
  document.getElementById("problem").textContent = failed ? "The dice could not be rolled." : "";
  if (failed) return;
  const items = roll.rolls.map((value) => {
    const item = document.createElement("li");
    item.textContent = String(value);
    return item;
  });
  document.getElementById("dice").replaceChildren(...items);
  document.getElementById("total").textContent = String(roll.total);
  const { scrollWidth: width, scrollHeight: height } = document.documentElement;
  post({ method: "ui/notifications/size-changed", params: { width, height } });
}

const handlers = {
  "ui/notifications/tool-input": (params) => {
    dice = (params.arguments && params.arguments.dice) || dice;
  },
  "ui/notifications/tool-result": show,
  "ui/notifications/tool-cancelled": () => show(null),
};

window.addEventListener("message", ({ source, data }) => {
  if (source !== host || typeof data !== "object" || data === null || data.jsonrpc !== "2.0") return;
  if (data.method === "ui/resource-teardown" || data.method === "ping") {
    post({ id: data.id, result: {} });
  } else if (Object.hasOwn(handlers, data.method)) {
    handlers[data.method](data.params || {});
  } else if (data.method === undefined && waiting.has(data.id)) {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) reject(new Error(data.error.message));
    else resolve(data.result);
  }
});

document.getElementById("roll").addEventListener("click", async ({ target }) => {
  target.disabled = true;
  try {
    show(await request("tools/call", { name: "roll_dice", arguments: { dice } }));
  } catch {
    show(null);
  } finally {
    target.disabled = false;
  }
});

async function start() {
  const agreed = await request("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "dice", version: "1.0.0" },
    appCapabilities: { availableDisplayModes: ["inline"] },
  });
  const capabilities = agreed.hostCapabilities || {};
  document.getElementById("roll").disabled = !capabilities.serverTools;
  post({ method: "ui/notifications/initialized" });
}

start();
