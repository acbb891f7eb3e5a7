import { existsSync, rmSync } from 'node:fs';
import { eventually } from '../eventually.ts';
import { serveHttp } from '../serve.ts';
import { useStack } from '../use-stack.ts';
import { findBarriers } from './find-barriers.ts';
import { openBrowser } from './open-browser.ts';

interface Answer {
  body: string;
  headers?: Record<string, string>;
}

const policy = (text: string) => ({ 'Content-Security-Policy': text });

const answers: Record<string, Answer> = {
  '/good': { body: '<main><h1>Good</h1></main>' },
  '/throws': { body: "<script>throw new Error('of the page')</script>" },
  '/inline': { body: '<script>alert(1)</script>', headers: policy("default-src 'none'; img-src data:") },
  '/sink': {
    body: '<p id="p"></p><script src="/sink.js"></script>',
    headers: policy("script-src 'self'; require-trusted-types-for 'script'"),
  },
  '/elsewhere': { body: '<img alt="" src="https://elsewhere.example/pixel.png">' },
  '/barrier': { body: '<main><h1>A</h1><img src="data:,"></main>' },
};

const world = useStack(async (stack) => {
  const url = await serveHttp(stack, ({ url = '' }, response) => {
    if (url === '/sink.js') {
      response.setHeader('Content-Type', 'text/javascript').end("document.getElementById('p').innerHTML = '<b>x</b>'");
      return;
    }
    const { body, headers } = answers[url] ?? { body: '' };
    response.writeHead(200, { 'Content-Type': 'text/html', ...headers });
    response.end(`<!doctype html><html lang="en"><title>Page</title><link rel="icon" href="data:,">${body}`);
  });
  return { url, browser: await openBrowser() };
});

async function open(path: string, host = '127.0.0.1') {
  const stack = new AsyncDisposableStack();
  const { browser, url } = world.current;
  const opened = await browser.openPage(stack);
  await opened.page.goto(`${url.replace('127.0.0.1', host)}${path}`);
  return { ...opened, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a page without faults has none', async () => {
  await using opened = await open('/good');
  expect(opened.seen).toMatchObject({ errors: [], violations: [] });
  expect(opened.requestsBeyond(world.current.url)).toEqual([]);
  expect(await findBarriers(opened.page)).toEqual([]);
});

test('an exception of a page is seen', async () => {
  await using opened = await open('/throws');
  await eventually('the exception', () => opened.seen.errors.length > 0);
  expect(opened.seen.errors).toEqual(['Error: of the page']);
});

test('an inline script that a policy refuses is seen', async () => {
  await using opened = await open('/inline');
  await eventually('the violation', () => opened.seen.violations.length > 0);
  expect(opened.seen.violations).toEqual([
    { page: `${world.current.url}/inline`, directive: 'script-src-elem', blocked: 'inline' },
  ]);
});

test('a text given to a sink of HTML is seen, where trusted types are required', async () => {
  await using opened = await open('/sink');
  await eventually('the violation', () => opened.seen.violations.length > 0);
  expect(opened.seen.violations).toEqual([
    { page: `${world.current.url}/sink`, directive: 'require-trusted-types-for', blocked: 'trusted-types-sink' },
  ]);
});

test('a request to another host is seen, and reaches nobody', async () => {
  await using opened = await open('/elsewhere');
  expect(opened.requestsBeyond(world.current.url)).toEqual(['https://elsewhere.example/pixel.png']);
  await eventually('the refusal', () => opened.seen.errors.length > 0);
  expect(opened.seen.errors.join()).toContain('ERR_NAME_NOT_RESOLVED');
});

test('hosts below localhost are this machine, and each is another origin', async () => {
  await using opened = await open('/good', 'console.localhost');
  expect(await opened.page.title()).toBe('Page');
  expect(await opened.page.evaluate(() => location.hostname)).toBe('console.localhost');
  expect(opened.requestsBeyond(world.current.url)).toHaveLength(1);
});

test('what shuts people out is found', async () => {
  await using opened = await open('/barrier');
  expect(await findBarriers(opened.page)).toEqual([expect.stringContaining('image-alt')]);
});

test('a screenshot is saved', async () => {
  const file = new URL('../../../../screenshots/a-page.png', import.meta.url);
  rmSync(file, { force: true });
  await using opened = await open('/good');
  await opened.screenshot('a-page');
  expect(existsSync(file)).toBe(true);
});
