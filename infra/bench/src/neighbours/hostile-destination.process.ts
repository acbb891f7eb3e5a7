import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { listen } from '../peers/listen.ts';
import { yieldToOthers } from './yield-to-others.ts';

/** A path of the destination, percent-encoded. */
export type HostileAnswer = 'large JSON' | 'opened arrays' | 'a form' | 'header lines' | 'late';

yieldToOthers();

const [json, form] = ['application/json', 'application/x-www-form-urlencoded'];
const lateMs = 1000;
const coded = (type: string, text: string) => ({
  headers: { 'Content-Type': type, 'Content-Encoding': 'gzip' },
  body: gzipSync(text),
});
const plain = { headers: { 'Content-Type': json }, body: Buffer.from('{}') };
const lines = Array.from({ length: 1500 }, (_, at) => [`x-${at}`, 'some more characters']);
const answers: Record<string, { headers: Record<string, string>; body: Buffer }> = {
  'large JSON': coded(json, JSON.stringify('x'.repeat(5_000_000))),
  'opened arrays': coded(json, '['.repeat(5_000_000)),
  'a form': coded(form, '=&'.repeat(1_000_000)),
  'header lines': { ...plain, headers: { ...plain.headers, ...Object.fromEntries(lines) } },
} satisfies Partial<Record<HostileAnswer, object>>;

listen(
  createServer((request, response) => {
    request.resume();
    const name = decodeURIComponent(request.url ?? '').slice(1);
    const { headers, body } = answers[name] ?? plain;
    const answer = () => response.writeHead(200, headers).end(body);
    if (name === 'late') setTimeout(answer, lateMs);
    else request.on('end', answer);
  }),
);
