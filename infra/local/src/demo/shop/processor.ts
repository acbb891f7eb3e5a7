import { readJson, send, serve } from './serve.ts';

export interface Processor {
  chargesUrl: string;
  /** Of its own page, which shows what it received last. */
  origin: string;
  /** Lets this origin show that page in a frame. */
  embedIn(origin: string): void;
}

const style = `:root { color-scheme: light dark }
body { margin: 0; padding: 12px 16px; background: light-dark(#ffffff, #141d24); color: light-dark(#15212b, #e4ebef);
  font: 12px/1.6 ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace }
pre { margin: 0; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere }
mark { background: light-dark(#fbeae8, #3a1d1b); color: light-dark(#a8281f, #ff9b92); font-weight: 700 }`;

/** Plays a careless payment processor, whose answer contains the card number. */
export async function startProcessor(stack: AsyncDisposableStack): Promise<Processor> {
  let received = 'Nothing yet';
  let embedder = "'none'";
  const port = await serve(stack, async (request, response) => {
    if (request.url === '/style.css') return send(response, style, { 'Content-Type': 'text/css' });
    if (request.url === '/received') {
      const policy = `default-src 'none'; style-src 'self'; frame-ancestors ${embedder}`;
      return send(response, pageOf(received), { 'Content-Type': 'text/html', 'Content-Security-Policy': policy });
    }
    const { amount, card, ...rest } = (await readJson(request)) as { amount: number; card: { number: string } };
    const { method, url, headers } = request;
    received = `${method} ${url}\nAuthorization: ${headers.authorization}\n\n${toText({ amount, ...rest, card })}`;
    const answer = { status: 'charged', amount, card_number: card.number };
    send(response, JSON.stringify(answer), { 'Content-Type': 'application/json' }, 201);
  });
  return {
    chargesUrl: `http://127.0.0.1:${port}/v1/charges`,
    origin: `http://processor.localhost:${port}`,
    embedIn: (origin) => {
      embedder = origin;
    },
  };
}

export function toText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function pageOf(text: string): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const marked = safe.replace(/("number": ")(\d+)"/, '$1<mark>$2</mark>"');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Processor</title><link rel="stylesheet" href="/style.css"><pre>${marked}</pre></html>`;
}
