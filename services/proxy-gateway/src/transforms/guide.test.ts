import { access, readFile } from 'node:fs/promises';
import { call, useStack } from '@sluice/testing';
import { shareTestGateway } from '../testing/test-gateway.ts';

const gateway = useStack((stack) => shareTestGateway(stack));
const guide = new URL('../../../../infra/guides/write-a-transform.md', import.meta.url);
const text = await readFile(guide, 'utf8');

const types: Record<string, string> = { json: 'application/json', form: 'application/x-www-form-urlencoded' };
const block = (info: string) => `\`\`\`${info}\\n(.*?)\\n\`\`\`\\n`;
const example = new RegExp(block('(json|form) request') + block('js') + block('(json|form) sent'), 'gs');
const examples = [...text.matchAll(example)].map(([, kind = '', body = '', code = '', , sent = '']) => {
  return { kind, body, code, sent };
});

test('every block of code of the guide is of an example', () => {
  expect(examples.length).toBeGreaterThan(4);
  expect(text.match(/^```\w/gm)).toHaveLength(3 * examples.length);
});

test('every link leads somewhere', async () => {
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(1);
  for (const link of links) await access(new URL(link, guide));
});

test.each(examples)('$body becomes $sent', async ({ kind, body, code, sent }) => {
  const { tenant, destination, url } = gateway.current;
  const rule = { description: 'all', priority: 1, container: '/', transform: 'reveal' } as const;
  const rules = [{ ...rule, permissions: ['token:create', 'token:read'] }];
  const application = await tenant.application({ permissions: [], rules });
  const proxy = await tenant.proxy({
    destination: destination.url,
    requireAuth: false,
    requestTransform: code,
    applicationId: application.id,
    configuration: { MERCHANT: 'm-1', SECRET: 's3cret' },
  });
  const headers = { 'SVC-PROXY-KEY': proxy.key, 'Content-Type': types[kind] ?? '' };
  const answer = await call(url, 'POST', '/proxy', { headers, body });
  expect([answer.status, destination.seen.at(-1)?.body]).toEqual([200, sent]);
});
