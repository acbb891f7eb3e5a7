import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds in a page that shuts people out: for each finding its rule, and where it was found. @see https://dequeuniversity.com/rules/axe */
export async function findBarriers(page: Page): Promise<string[]> {
  // Evaluated by the debugger, because the page's policy refuses scripts of others.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  return await page.evaluate(async () => {
    // Only what is wrong leaves the page: what is right names each of its elements.
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
  });
}
