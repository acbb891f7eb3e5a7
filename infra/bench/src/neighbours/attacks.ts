import { gzipSync } from 'node:zlib';
import type { Attempts } from './attackers.process.ts';
import type { HostileAnswer } from './hostile-destination.process.ts';

/** One of the worst known requests of a Tenant. */
export interface Attack {
  name: string;
  /** Members of the Proxy besides its destination. */
  proxy: object;
  headers: Record<string, string>;
  body: Buffer;
  /** What its destination answers; by default a few bytes. */
  answer?: HostileAnswer;
  /** Whether its transform calls `svc` as an Application that may use tokens. */
  usesTokens?: boolean;
  /** Other than 24 at a time, each sent at once. */
  attempts?: Partial<Attempts>;
}

const megabyte = 1_000_000;
const json = { 'Content-Type': 'application/json' };
const gzip = { 'Content-Encoding': 'gzip' };
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const noTransform = 'module.exports = async () => ({})';
const small = Buffer.from('{}');

/** 1,300 short secrets, each of which must be searched for in what a transform prints or throws. */
const configuration = Object.fromEntries(
  Array.from({ length: 1300 }, (_, at) => [`S${at}`, (at + 46_656).toString(36).padStart(6, 'q')]),
);

const request = (code: string) => ({
  request_transform: {
    code: `const { BadRequestError } = require('svc-errors');
      module.exports = async ({ args, svc }) => { ${code} }`,
  },
});

function running(name: string, code: string, more: Partial<Attack> = {}): Attack {
  return { name, headers: json, body: small, ...more, proxy: { ...request(code), ...more.proxy } };
}

function sent(name: string, type: Record<string, string>, text: string): Attack {
  const proxy = { request_transform: { code: noTransform } };
  return { name, proxy, headers: { ...type, ...gzip }, body: gzipSync(text) };
}

/** One byte in each chunk. */
function inChunks(name: string, body: string, attempts: Partial<Attempts>): Attack {
  const proxy = { request_transform: { code: noTransform } };
  return { name, proxy, headers: json, body: Buffer.from(JSON.stringify(body)), attempts };
}

function answered(name: string, answer: HostileAnswer, more: Partial<Attack> = {}): Attack {
  return { name, proxy: { response_transform: { code: noTransform } }, headers: json, body: small, answer, ...more };
}

/**
 * Computes within its limits and never touches the main thread. What another Tenant waits beside it, it waits because
 * the threads of a gateway share processor cores.
 */
export const plainComputing = running(
  'a plain transform that computes for 40 ms',
  'const end = Date.now() + 40; while (Date.now() < end); return {}',
);

/** Of 65 bytes each and 64 KiB together. Each form escapes most of their characters in its own way. */
export const costlyValues: readonly string[] = Array.from({ length: 1000 }, (_, at) => {
  return `${at}`.padStart(5, '0') + "' /é".repeat(12);
});

/** Tokens of the attacker. */
export interface AttackTokens {
  /** One that its transforms may use. */
  small: string;
  /** Its data are the {@link costlyValues}. */
  costly: string;
}

export function attacksWith({ small: token, costly }: AttackTokens): Attack[] {
  return [
    sent('a form of a million empty pairs', form, '=&'.repeat(megabyte)),
    sent('5 MB of JSON, compressed', json, JSON.stringify('x'.repeat(5 * megabyte))),
    sent('deep JSON', json, '['.repeat(megabyte) + ']'.repeat(megabyte)),
    running(
      '10,000 expressions of svc.detokenize',
      `const text = '{{ ${token} | append: "x" }}'.repeat(200);
       await Promise.allSettled(Array.from({ length: 50 }, () => svc.detokenize(text))); return {}`,
      { usesTokens: true },
    ),
    running(
      'svc.tokenize of 5,000 values',
      'await svc.tokenize(Array.from({ length: 5000 }, (_, at) => "value " + at)); return {}',
      { usesTokens: true },
    ),
    running('16 KiB of console output, 1,300 secrets', "console.log('no secret '.repeat(1600)); return {}", {
      proxy: { configuration },
    }),
    running(
      '400,000 field errors',
      'const errors = {}; for (let i = 0; i < 4e5; i += 1) errors[i] = ["x"]; throw new BadRequestError({ errors })',
    ),
    running(
      '200,000 headers returned',
      'const headers = {}; for (let i = 0; i < 2e5; i += 1) headers["a" + i] = "1"; return { headers }',
    ),
    running('a result of 5 MB', "return { body: 'x'.repeat(5e6) }"),
    answered('an answer of 5 MB of JSON, compressed', 'large JSON'),
    answered('an answer of five million opened arrays', 'opened arrays'),
    answered('an answer that is a form of a million pairs', 'a form'),
    answered('an answer of 1,500 header lines', 'header lines'),
    {
      name: '500 header lines',
      proxy: { request_transform: { code: noTransform } },
      headers: { ...json, ...Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${at}`, ''])) },
      body: small,
    },
    {
      name: 'a response guard with 64 KiB of values',
      proxy: { response_guard: 'redact' },
      headers: json,
      body: Buffer.from(JSON.stringify({ values: `{{ ${costly} }}` })),
    },
    answered('500 calls of a slow destination', 'late', { attempts: { atOnce: 500 } }),
    {
      name: 'a host name that is never answered',
      proxy: { destination_url: 'http://never-answered.invalid/' },
      headers: json,
      body: small,
    },
    inChunks('500 chunked bodies, a byte every 50 ms', 'x'.repeat(200), { atOnce: 500, chunked: { everyMs: 50 } }),
    inChunks('a megabyte in chunks of one byte', 'x'.repeat(megabyte), { chunked: { everyMs: 0 } }),
    {
      name: 'the same, streamed',
      proxy: {},
      headers: { 'Content-Type': 'application/octet-stream' },
      body: Buffer.alloc(megabyte, 'x'),
      attempts: { chunked: { everyMs: 0 } },
    },
  ];
}
