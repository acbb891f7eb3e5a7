import { gzipSync } from 'node:zlib';

/** The worst known small requests of one Tenant. */
export interface Attack {
  name: string;
  /** Members of the Proxy besides its destination. */
  proxy: object;
  headers: Record<string, string>;
  body: Buffer;
  /** Whether its transform calls `svc` as an Application that may use the token. */
  usesTokens?: boolean;
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

const running = (code: string, parts: object = {}) => ({
  request_transform: {
    code: `const { BadRequestError } = require('svc-errors');
      module.exports = async ({ args, svc }) => { ${code} }`,
  },
  ...parts,
});

/** @param token id of a token that the attacker's transforms may use. */
export function attacksWith(token: string): Attack[] {
  const returned = (name: string, code: string, parts?: object): Attack => ({
    name,
    proxy: running(code, parts),
    headers: json,
    body: small,
  });
  const sent = (name: string, type: Record<string, string>, text: string): Attack => ({
    name,
    proxy: { request_transform: { code: noTransform } },
    headers: { ...type, ...gzip },
    body: gzipSync(text),
  });
  return [
    sent('a form of a million empty pairs', form, '=&'.repeat(megabyte)),
    sent('5 MiB of JSON, compressed', json, JSON.stringify('x'.repeat(5 * megabyte))),
    sent('deep JSON', json, '['.repeat(megabyte) + ']'.repeat(megabyte)),
    {
      ...returned(
        '10,000 expressions of svc.detokenize',
        `const text = '{{ ${token} | append: "x" }}'.repeat(100);
         await Promise.allSettled(Array.from({ length: 100 }, () => svc.detokenize(text))); return {}`,
      ),
      usesTokens: true,
    },
    returned('16 KiB of console output, 1,300 secrets', "console.log('no secret '.repeat(1600)); return {}", {
      configuration,
    }),
    returned(
      '400,000 field errors',
      'const errors = {}; for (let i = 0; i < 4e5; i += 1) errors[i] = ["x"]; throw new BadRequestError({ errors })',
    ),
    returned(
      '200,000 headers returned',
      'const headers = {}; for (let i = 0; i < 2e5; i += 1) headers["a" + i] = "1"; return { headers }',
    ),
    {
      name: 'a host name that is never answered',
      proxy: { destination_url: 'http://never-answered.invalid/' },
      headers: json,
      body: small,
    },
  ];
}
