/** Programs of reactors, whose calls are answered by nobody. */
export const againstFetch: Record<string, string> = {
  'fetch flood': 'for (;;) fetch("http://a").catch(() => {})',
  'fetch flood side by side': 'await Promise.all(Array.from({ length: 1e5 }, () => fetch("http://a")))',
  'fetch that never answers': 'await fetch("http://a")',
  'fetch beside a timer without end': 'void fetch("http://a"); setInterval(() => {}, 0); await new Promise(() => {})',
  'fetch in a race that it always loses':
    'for (;;) await Promise.race([fetch("http://a").catch(() => {}), new Promise((r) => setTimeout(r))])',
  'fetch of headers without end': 'new Headers((function* () { for (;;) yield ["a", "b"] })())',
  'fetch of many headers': 'const h = new Headers(); for (;;) h.append("a" + Math.random(), "x".repeat(1e4))',
  'fetch of a URL that loops': 'await fetch({ toString() { for (;;); } })',
  'fetch of a long URL': 'await fetch("http://a/" + "x".repeat(1e7))',
  'fetch of a body that loops': 'await fetch("http://a", { method: "POST", body: { toString() { for (;;); } } })',
  'fetch of a body as large as memory': 'await fetch("http://a", { method: "POST", body: "\\0".repeat(2e7) })',
  'fetch of bytes as large as memory': 'await fetch("http://a", { method: "POST", body: new Uint8Array(2e7) })',
  'fetch of clones of clones':
    'let r = new Response("x".repeat(1e5)); const all = []; for (;;) all.push((r = r.clone()))',
  'fetch that aborts without end':
    'const c = new AbortController(); c.signal.addEventListener("abort", () => { for (;;); }); fetch("http://a", { signal: c.signal }); c.abort()',
  'fetch of a signal of signals':
    'let s = new AbortController().signal; for (;;) s = AbortSignal.any([s, s]); await fetch("http://a", { signal: s })',
  'fetch with headers that iterate for ever':
    'Headers.prototype.entries = function* () { for (;;) yield ["a", "b"] }; await fetch("http://a")',
  'fetch with a promise that loops': 'Promise.prototype.then = () => { for (;;); }; await fetch("http://a").x.y',
  'fetch of files of the host': 'await import("./fetch.js")',
};
