import { eventually } from '@sluice/testing';
import { findBarriers, type OpenPage, openBrowser, renderings } from '@sluice/testing/browser';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { type Platform, sharePlatform } from '../platform.ts';

/** A new Tenant, and browsers in which its owner is signed in to the console. */
export async function openConsole() {
  const platform = await sharePlatform();
  const { openPage } = await openBrowser();
  const consoleUrl = `http://console.localhost:${new URL(platform.stack.baseUrl).port}`;
  const kept: { signedIn?: Awaited<ReturnType<BrowserContext['storageState']>> } = {};
  return { ...platform, openPage, consoleUrl, kept };
}

export type ConsoleWorld = Awaited<ReturnType<typeof openConsole>>;

export interface SignedIn extends OpenPage, AsyncDisposable {
  /** Opens an address of the console, and waits for a heading. */
  goto(path: string, heading: string | RegExp): Promise<void>;
  /** From here on an answer with this status is no fault; the browser writes each down. */
  expectStatus(status: number): void;
  /**
   * Looks at the screen in both themes, and wide and narrow: it keeps pictures, and fails for what axe finds and what is wider
   * than the window.
   */
  look(name: string): Promise<void>;
}

/**
 * A page in which the owner is signed in: as all tests of the file share it, or with a link by a sign-in of its own, for what
 * ends or changes it. When it is disposed of, the page must have had no fault.
 */
export async function signIn(world: ConsoleWorld, link?: string): Promise<SignedIn> {
  const closing = new AsyncDisposableStack();
  const { signedIn } = link === undefined ? world.kept : {};
  const opened = await world.openPage(closing, {
    viewport: { width: 1280, height: 860 },
    colorScheme: 'light',
    ...(signedIn && { storageState: signedIn }),
  });
  const { page, seen } = opened;
  if (signedIn) {
    await page.goto(world.consoleUrl);
  } else {
    await page.goto(link ?? (await signInLink(world)));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  if (link === undefined) world.kept.signedIn ??= await page.context().storageState();
  const expected: number[] = [];
  return {
    ...opened,
    expectStatus: (status) => expected.push(status),
    async goto(path, heading) {
      await page.goto(`${world.consoleUrl}${path}`);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    },
    async look(name) {
      for (const { scheme, width } of renderings) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        await page.setViewportSize({ width, height: 860 });
        await page.evaluate(() => scrollTo(0, 0));
        const at = `${name}-${scheme}-${width}`;
        await opened.screenshot(at, { whole: true });
        expect([at, await findBarriers(page)]).toEqual([at, []]);
        const isTooWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        await eventually(`${at} fits`, async () => !(await isTooWide()));
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1280, height: 860 });
    },
    async [Symbol.asyncDispose]() {
      const isExpected = (text: string) => expected.some((status) => text.includes(`a status of ${status} `));
      const errors = seen.errors.filter((text) => !isExpected(text));
      const faults = { ...seen, errors, requests: opened.requestsBeyond(world.consoleUrl) };
      await closing.disposeAsync();
      expect(faults).toEqual({ errors: [], violations: [], requests: [] });
    },
  };
}

export async function signInLink({ stack }: Pick<Platform, 'stack'>): Promise<string> {
  const text = await stack.signInLink();
  return /https?:\S+/.exec(text)?.[0] ?? text;
}

/** What a refused form shows: the labels of its faulty fields and of the one with the focus, and how many faults are at no field. */
export function faultyFields(page: Page) {
  return page.evaluate(() => {
    const labelOf = (field: Element | null) =>
      (field instanceof HTMLInputElement && field.labels?.[0]?.textContent) || field?.getAttribute('aria-label');
    return {
      faulty: [...document.querySelectorAll('[aria-invalid="true"]')].map(labelOf),
      focused: labelOf(document.activeElement),
      alerts: document.querySelectorAll('[role="alert"]').length,
    };
  });
}

/** Chooses by name in a field that searches while one types. */
export async function choose(field: Locator, name: string): Promise<void> {
  await field.fill(name);
  await field.page().getByRole('option', { name, exact: true }).click();
}
