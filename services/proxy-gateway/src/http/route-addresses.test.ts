import { withRouteAddresses } from './route-addresses.ts';

const origin = 'https://sluice.example.com';
const ours = ['sluice.example.com', 'console.example.net:8443', 'shop.routes.example.com'];
const at = (path: string, called = '/v1/users/7?page=1', base = '/base') => ({
  called: new URL(`https://api.example${base}${called}`),
  destination: { origin: 'https://api.example', path: base },
  route: { origin, path },
  isOurs: ({ host }: URL) => ours.includes(host),
});
const route = at('/routes/shop');
const ownHost = at('');
const sent = (name: string, value: string, addresses = route) => withRouteAddresses([name, value], addresses)[1];

/** The last of a row is undefined where the line is removed. */
const locations: [string, string, string | undefined][] = [
  ['absolute, below the path', 'https://api.example/base/v1/a?b=c#d', '/routes/shop/v1/a?b=c#d'],
  ['the path itself', 'https://api.example/base', '/routes/shop'],
  ['the path with a slash', 'https://api.example/base/', '/routes/shop/'],
  ['the path with a query', '/base?a=b', '/routes/shop?a=b'],
  ['a path', '/base/v2', '/routes/shop/v2'],
  ['relative', '8', '/routes/shop/v1/users/8'],
  ['relative, upwards', '../groups/1', '/routes/shop/v1/groups/1'],
  ['relative, upwards out of the path', '../../../other', 'https://api.example/other'],
  ['upwards as encoded dots', '/base/%2e%2e/other', 'https://api.example/other'],
  ['a query', '?page=2', '/routes/shop/v1/users/7?page=2'],
  ['a fragment', '#end', '/routes/shop/v1/users/7?page=1#end'],
  ['nothing', '', '/routes/shop/v1/users/7?page=1'],
  ['scheme-relative', '//api.example/base/v2', '/routes/shop/v2'],
  ['backslashes', '\\\\api.example\\base\\v2', '/routes/shop/v2'],
  ['with user and password', 'https://a:b@api.example/base/v2', '/routes/shop/v2'],
  ['in capitals', 'HTTPS://API.EXAMPLE:443/base/v2', '/routes/shop/v2'],
  ['with blanks around', '  /base/v2\t', '/routes/shop/v2'],
  ['with bytes beyond ASCII', '/base/caf\u00c3\u00a9', '/routes/shop/caf%C3%A9'],
  ['encoded slashes stay', '/base/a%2Fb', '/routes/shop/a%2Fb'],
  ['beside the path', '/other/v2', 'https://api.example/other/v2'],
  ['a path that only begins alike', '/based/v2', 'https://api.example/based/v2'],
  ['a path of other case', '/Base/v2', 'https://api.example/Base/v2'],
  ['another scheme', 'http://api.example/base/v2', 'http://api.example/base/v2'],
  ['another port', 'https://api.example:8443/base/v2', 'https://api.example:8443/base/v2'],
  ['another host', 'https://cdn.example/base/v2', 'https://cdn.example/base/v2'],
  ['another host, scheme-relative', '//cdn.example/x', 'https://cdn.example/x'],
  ['no web address', 'mailto:a@b', 'mailto:a@b'],
  ['our base host', `${origin}/tokens`, undefined],
  ['our base host, scheme-relative', '//sluice.example.com/tokens', undefined],
  ['our base host behind user and password', 'https://api.example@sluice.example.com/tokens', undefined],
  ['our base host behind a backslash', 'https:\\\\sluice.example.com\\tokens', undefined],
  ['our base host with three slashes', 'https:///sluice.example.com/tokens', undefined],
  ['our console with its port', 'https://console.example.net:8443/', undefined],
  ['our console with another port', 'https://console.example.net/', 'https://console.example.net/'],
  ['another route', 'https://shop.routes.example.com/', undefined],
  ['malformed', 'https://[::1/', undefined],
  ['a host that none can have', 'https://a b/', undefined],
];

describe.each(['Location', 'content-location'])('%s', (name) => {
  test.each(locations)('%s', (_, value, expected) => expect(sent(name, value)).toBe(expected));
});

test.each(locations)('in Link, absolute: %s', (_, value, expected) => {
  const address = expected?.startsWith('/') ? origin + expected : expected;
  expect(sent('Link', `<${value}>; rel="next"`)).toBe(address && `<${address}>; rel="next"`);
});

test.each([
  ['/base/v2?a', '/v2?a'],
  ['/base', '/'],
  ['/base//evil.example/x', `${origin}//evil.example/x`],
  ['/base/\\evil.example', `${origin}//evil.example`],
])('at a host of its own Location %s is %s', (value, expected) => {
  expect(sent('Location', value, ownHost)).toBe(expected);
  const absolute = expected.startsWith('/') ? origin + expected : expected;
  expect(sent('Link', `<${value}>`, ownHost)).toBe(`<${absolute}>`);
});

test('a destination without a path has all of its origin below it', () => {
  const whole = at('/routes/shop', 'v1', '/');
  expect(sent('Location', '/anything', whole)).toBe('/routes/shop/anything');
  expect(sent('Location', '/', whole)).toBe('/routes/shop/');
});

const next = `<${origin}/routes/shop/v2?page=2>`;
test.each<[string, string, string | undefined]>([
  [
    'several',
    '</base/v2?page=2>; rel="next", <https://cdn.example/l>; rel=last',
    `${next}; rel="next", <https://cdn.example/l>; rel=last`,
  ],
  ['a comma in a quoted text', '</base/v2?page=2>; title="a, b"; rel=next', `${next}; title="a, b"; rel=next`],
  ['a comma in an address', '</base/v2?page=2,3>', `<${origin}/routes/shop/v2?page=2,3>`],
  ['an escaped quote', '</base/v2?page=2>; title="a\\"b"', `${next}; title="a\\"b"`],
  ['no blanks, and an empty member', '</base/v2?page=2>;rel=next,,</base/v2?page=2>', `${next};rel=next, ${next}`],
  ['one of several at our host', `</base/v2>; rel="next", <${origin}/tokens>; rel="last"`, undefined],
  ['one of several malformed', '</base/v2>; rel="next", <https://[>; rel="last"', undefined],
  [
    'an address in a quoted text, which octokit would follow',
    `</base/v2>; title="<${origin}/tokens>; rel=next"`,
    undefined,
  ],
  ['no brackets, which requests would follow', `${origin}/tokens; rel=next`, undefined],
  ['no closing bracket', `<${origin}/tokens; rel=next`, undefined],
  ['a quote that does not end', '</base/v2>; rel="next', undefined],
  ['nothing', '', ''],
])('Link: %s', (_, value, expected) => expect(sent('Link', value)).toBe(expected));

test('every line counts, and other headers stay', () => {
  const headers = [
    'Location',
    '/base/a',
    'X-Location',
    '/base/a',
    'link',
    '</base/a>',
    'LINK',
    `<${origin}/>`,
    'A',
    '',
  ];
  const expected = [
    'Location',
    '/routes/shop/a',
    'X-Location',
    '/base/a',
    'link',
    `<${origin}/routes/shop/a>`,
    'A',
    '',
  ];
  expect(withRouteAddresses(headers, route)).toEqual(expected);
});
