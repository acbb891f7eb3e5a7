import { forBrowsers, refuseServiceWorker } from './browser-rules.ts';

const ask = (headers: Record<string, string>) => ({ headers });
const page = ask({ 'sec-fetch-site': 'none', 'sec-fetch-dest': 'document' });
const vary = ['Vary', 'Sec-Fetch-Dest'];
const sandbox = ['Content-Security-Policy', 'sandbox'];

describe('an answer to a browser', () => {
  test.each(['document', 'iframe', 'frame', 'fencedframe', 'object', 'embed'])(
    'for a navigation (%s) is sandboxed',
    (destination) => {
      const asked = ask({ 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': destination });
      expect(forBrowsers(asked, ['A', '1'])).toEqual(['A', '1', ...vary, ...sandbox]);
    },
  );

  test("keeps the destination's own policy, beside which the sandbox counts", () => {
    const own = ['Content-Security-Policy', 'sandbox allow-scripts allow-same-origin'];
    expect(forBrowsers(page, own)).toEqual([...own, ...vary, ...sandbox]);
  });

  test.each(['empty', 'script', 'image', 'serviceworker'])('for %s is not sandboxed', (destination) => {
    const asked = ask({ 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': destination });
    expect(forBrowsers(asked, ['A', '1'])).toEqual(['A', '1', ...vary]);
  });

  test.each([
    ['a=b; Domain=example.com; Secure', 'a=b; Secure'],
    ['a=b;domain=.example.com', 'a=b'],
    ['a=b; DOMAIN = example.com;Path=/; domain=x', 'a=b;Path=/'],
    ['a=b; Domain', 'a=b'],
    ['a="x; Domain=example.com"', 'a="x'],
    ['a=b;\tDomain=example.com', 'a=b'],
    ['domain=example.com; Path=/', 'domain=example.com; Path=/'],
    ['a=domain=x; Path=/domain=/', 'a=domain=x; Path=/domain=/'],
    ['a=b; Domainx=1', 'a=b; Domainx=1'],
    ['; Domain=example.com', ''],
  ])('sets the cookie %s as %s', (cookie, sent) => {
    const asked = ask({ 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'empty' });
    const headers = ['Set-Cookie', cookie, 'X-Domain', 'a; Domain=b', 'set-cookie', cookie];
    expect(forBrowsers(asked, headers)).toEqual([
      'Set-Cookie',
      sent,
      'X-Domain',
      'a; Domain=b',
      'set-cookie',
      sent,
      ...vary,
    ]);
  });
});

const ofWholeHosts = [
  ['Clear-Site-Data', '"cookies"'],
  ['NEL', '{"report_to":"them","max_age":86400,"include_subdomains":true}'],
  ['Report-To', '{"group":"them","max_age":86400,"endpoints":[{"url":"https://them.example"}]}'],
  ['strict-transport-security', 'max-age=0; includeSubDomains'],
  ['ALT-SVC', 'h3="them.example:443"'],
] as const;

test.each(ofWholeHosts)('no browser gets what would hold beyond the answer: %s', (name, value) => {
  expect(forBrowsers(ask({ 'sec-fetch-site': 'cross-site' }), ['A', '1', name, value, 'B', '2'])).toEqual([
    ...['A', '1', 'B', '2'],
    ...vary,
  ]);
});

test('an answer to anything else is as the destination wrote it', () => {
  const headers = ['Set-Cookie', 'a=b; Domain=example.com', ...ofWholeHosts.flat()];
  expect(forBrowsers(ask({ 'user-agent': 'curl' }), headers)).toBe(headers);
});

test('the script of a service worker is refused, and no other script', () => {
  expect(() => refuseServiceWorker(ask({ 'service-worker': 'script' }))).toThrow(
    expect.objectContaining({ code: 'forbidden', status: 403 }),
  );
  for (const headers of [{}, { 'sec-fetch-dest': 'serviceworker' }, { 'service-worker': 'x' }] as const) {
    expect(() => refuseServiceWorker(ask(headers))).not.toThrow();
  }
});
