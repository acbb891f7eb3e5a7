import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { isFullRun } from '../slow.ts';
import { requireSetting } from '../test-database.ts';
import { workerStack } from '../worker-stack.ts';
import { reportViolations, type Violation } from './in-page/report-violations.ts';

/** Not in Git. */
const screenshots = new URL('../../../../screenshots/', import.meta.url).pathname;

/** No name but those of this machine is known to the browser, so no test can reach another. */
const onlyThisMachine =
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost';

/** What hangs is ended by then, on a busy machine too. */
const timeoutMs = 120_000;

/** What happened in a page and its frames since it was opened. A test that expects one of these empties the list. */
export interface Seen {
  /** Exceptions that nobody caught, and messages that the browser or the page wrote as errors. */
  errors: string[];
  violations: Violation[];
  /** Every address that was asked for, in order. */
  requests: string[];
}

export interface OpenPage {
  page: Page;
  seen: Seen;
  /** Requests to other origins than these. */
  requestsBeyond(...origins: string[]): string[];
  /** Saves what the window shows as `screenshots/<name>.png`, or with `whole` the page to its end. */
  screenshot(name: string, options?: { whole?: boolean }): Promise<void>;
}

export interface TestBrowser {
  /** A page with cookies and storage of its own. It closes with the stack. */
  openPage(stack: AsyncDisposableStack, options?: BrowserContextOptions): Promise<OpenPage>;
}

export interface Rendering {
  width: 1280 | 320;
  scheme: 'light' | 'dark';
}

const mostDifferent: readonly Rendering[] = [
  { width: 1280, scheme: 'light' },
  { width: 320, scheme: 'dark' },
];

/** How the screens of people are looked at: in the full run wide and narrow in both themes, otherwise in the two that differ most. */
export const renderings: readonly Rendering[] = isFullRun
  ? [...mostDifferent, { width: 1280, scheme: 'dark' }, { width: 320, scheme: 'light' }]
  : mostDifferent;

let shared: Promise<Browser> | undefined;

/** Chromium without a window, which all test files of one Jest worker share; each page has its own cookies and storage. */
export async function openBrowser(): Promise<TestBrowser> {
  shared ??= launch();
  const browser = await shared;
  return { openPage: (closing, options) => openPage(browser, closing, options) };
}

/** It has no sandbox of its own, because tests may run as root, so it must be shown only pages of tests. `*.localhost` is this machine. */
async function launch(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: requireSetting('TEST_CHROMIUM'),
    chromiumSandbox: false,
    env: { ...process.env, LD_LIBRARY_PATH: process.env.TEST_CHROMIUM_LIBRARIES ?? '' },
    args: ['--disable-gpu', '--disable-quic', onlyThisMachine],
  });
  workerStack.defer(() => browser.close());
  return browser;
}

async function openPage(
  browser: Browser,
  stack: AsyncDisposableStack,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext(options);
  stack.defer(() => context.close());
  context.setDefaultTimeout(timeoutMs);
  const seen: Seen = { errors: [], violations: [], requests: [] };
  context.on('weberror', (error) => seen.errors.push(String(error.error())));
  context.on('console', (message) => {
    if (message.type() === 'error') seen.errors.push(message.text());
  });
  context.on('request', (request) => seen.requests.push(request.url()));
  await context.exposeBinding('reportViolation', (_source, violation: Violation) => {
    seen.violations.push(violation);
  });
  await context.addInitScript(reportViolations);
  const page = await context.newPage();
  return {
    page,
    seen,
    requestsBeyond: (...origins) => seen.requests.filter((url) => isElsewhere(url, origins)),
    async screenshot(name, { whole = false } = {}) {
      await mkdir(screenshots, { recursive: true });
      await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: whole, animations: 'disabled' });
    },
  };
}

/** `data:` and `blob:` addresses are of the page itself. */
function isElsewhere(url: string, origins: readonly string[]): boolean {
  const { origin, protocol } = new URL(url);
  return protocol !== 'data:' && protocol !== 'blob:' && !origins.includes(origin);
}
