import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ServiceError } from '@sluice/problems';
import { type Charset, charsetNamed } from '@sluice/sandbox';
import { slow } from '@sluice/testing';
import type { Json } from '@sluice/vault';
import fc from 'fast-check';
import { alone } from '../../testing/reveal-alone.ts';
import { fillPlaces } from '../detokenize.ts';
import { findExpressions } from '../find-expressions.ts';
import { RevealStream } from '../stream/reveal-stream.ts';
import type { TextKind } from '../text-reader.ts';

const limitBytes = 2 ** 20;

interface Text {
  kind: TextKind;
  body: string;
  values: Record<string, string>;
  charset?: Charset;
}

function whole({ kind, body, values, charset }: Text): Buffer {
  const bytes = Buffer.from(body);
  const places = findExpressions(bytes, kind, { charset });
  return fillPlaces(bytes, places, { values: new Map(Object.entries(values)), limitBytes });
}

async function divided({ kind, body, values, charset }: Text, windowBytes: number): Promise<Buffer> {
  const fetchValues = async () => new Map<string, Json>(Object.entries(values));
  const stream = new RevealStream({
    ...alone,
    kind,
    charsetOf: () => charset ?? charsetNamed('utf-8'),
    fetchValues,
    limitBytes,
    windowBytes,
  });
  return buffer(Readable.from([Buffer.from(body)], { objectMode: false }).compose(stream));
}

async function outcome(task: () => Buffer | Promise<Buffer>, encoding?: BufferEncoding): Promise<string> {
  try {
    return (await task()).toString(encoding);
  } catch (error) {
    if (error instanceof ServiceError) return `! ${error.status}`;
    throw error;
  }
}

/** Whole, and streamed with a border at each position. */
async function outcomes(text: Text): Promise<string[]> {
  const encoding = text.charset ? 'latin1' : 'utf8';
  const seen = new Set([await outcome(() => whole(text), encoding)]);
  for (let windowBytes = 1; windowBytes <= text.body.length; windowBytes += 1) {
    seen.add(await outcome(() => divided(text, windowBytes), encoding));
  }
  return [...seen];
}

const tom = 'Tom & <Jerry> "x\'';
const escapedTom = 'Tom &amp; &lt;Jerry&gt; &quot;x&apos;';
const lines = 'a\nb\tc\rd';

test.each<[kind: TextKind, body: string, value: string, expected: string]>([
  ['xml', '<a>{{t}}</a>', tom, `<a>${escapedTom}</a>`],
  ['xml', '<a>{{t}}</a>', lines, '<a>a\nb\tc&#13;d</a>'],
  ['xml', '<a b="{{t}}" c=\'{{t}}\'/>', lines, '<a b="a&#10;b&#9;c&#13;d" c=\'a&#10;b&#9;c&#13;d\'/>'],
  ['xml', '<a><![CDATA[{{t}}]]></a>', tom, `<a><![CDATA[${tom}]]></a>`],
  ['xml', '<a><![CDATA[{{t}}]]>{{t}}</a>', '&', '<a><![CDATA[&]]>&amp;</a>'],
  ['xml', '<![CDATA[{{t}}]]>', 'a]]>b]]>', '<![CDATA[a]]]]><![CDATA[>b]]]]><![CDATA[>]]>'],
  ['xml', '<![CDATA[{{t}}]]>', 'a\rb', '<![CDATA[a]]>&#13;<![CDATA[b]]>'],
  ['xml', '<![CDATA[{{t}}]]>', '[1]', '<![CDATA[[1]]]>'],
  ['xml', '<![CDATA[]]{{t}}]]>', '>', '<![CDATA[]]]]><![CDATA[>]]>'],
  ['xml', '<![CDATA[{{t}}>]]>', ']]', '<![CDATA[]]]]><![CDATA[>]]>'],
  ['xml', '<![CDATA[{{t}}]>]]>', ']', '<![CDATA[]]]><![CDATA[]>]]>'],
  ['xml', '<![CDATA[]]{{t}}>]]>', '', '<![CDATA[]]]]><![CDATA[>]]>'],
  ['xml', '<![CDATA[{{t}}{{u}}]]>', ']]', '<![CDATA[]]]]><![CDATA[>]]>'],
  ['xml', '<!-- <![CDATA[ --><a>{{t}}</a>', '&', '<!-- <![CDATA[ --><a>&amp;</a>'],
  ['xml', '<!-- <![CDATA[ {{t}} -->', '&', '<!-- <![CDATA[ &amp; -->'],
  ['xml', '<?p <![CDATA[ ?><a>{{t}}</a>', '&', '<?p <![CDATA[ ?><a>&amp;</a>'],
  ['xml', '<?p <![CDATA[ {{t}}?>', '?>', '<?p <![CDATA[ ?&gt;?>'],
  ['xml', '<a b="<![CDATA["/><a>{{t}}</a>', '&', '<a b="<![CDATA["/><a>&amp;</a>'],
  ['xml', '<a b="<![CDATA[{{t}}"/>', '"', '<a b="<![CDATA[&quot;"/>'],
  [
    'xml',
    `<!DOCTYPE a [<!ENTITY e "<![CDATA["><!-- ' -->]><a>{{t}}</a>`,
    '&',
    `<!DOCTYPE a [<!ENTITY e "<![CDATA["><!-- ' -->]><a>&amp;</a>`,
  ],
  ['xml', '<!DOCTYPE a [<!ENTITY e "{{t}}">]>', '%x;"', '<!DOCTYPE a [<!ENTITY e "&#37;x;&quot;">]>'],
  ['xml', '<a><![CDATA[<!-- {{t}} -->]]></a>', '--&', '<a><![CDATA[<!-- --& -->]]></a>'],
  ['xml', '<![CDATA {{t}}]]>', '&', '<![CDATA &amp;]]>'],
  ['xml', '<a>{{t}}</a>', 'a\0b', '! 400'],
  ['xml', '<a b="{{t}}"/>', '\x1b', '! 400'],
  ['xml', '<a>{{t}}</a>', 'a\ud800', '! 400'],
  ['xml', '<![CDATA[{{t}}]]>', '\uffff', '! 400'],
  ['xml', '<!--{{t}}-->', 'a--b', '! 400'],
  ['xml', '<!--{{t}}-->', 'a-', '! 400'],
  ['xml', '<!--{{t}}-->', 'a-b', '<!--a-b-->'],
  ['xml', '<?p {{t}}><b/>?>', '?', '! 400'],
  ['xml', '<?p a{{t}}?>', '?', '<?p a??>'],
  ['html', '<!--{{t}}><b>-->', '', '! 400'],
  ['html', '<!-- {{t}}><b>-->', '--', '! 400'],
  ['html', '<!-- -{{t}}!><b>-->', '-', '! 400'],
  ['html', '<!-- {{t}} -->', 'a-->b', '<!-- a--&gt;b -->'],
  ['html', '<?p {{t}}>', '?', '<?p ?>'],
  ['xml', '<a>{{t | append: ""}}</a>', 'a\0b', '<a></a>'],
  ['html', '<p>{{t}}</p>', tom, `<p>${escapedTom}</p>`],
  ['html', '<a href="{{t}}">', lines, '<a href="a&#10;b&#9;c&#13;d">'],
  ['html', '<a href={{t}}>', 'x onclick=y', '<a href=x&#32;onclick&#61;y>'],
  ['html', '<SCRIPT>let a = {{t}};</script>{{t}}', tom, `<SCRIPT>let a = ${tom};</script>${escapedTom}`],
  ['html', '<style media="a">{{t}}</style >{{t}}', 'a > b', '<style media="a">a > b</style >a &gt; b'],
  ['html', '<script>{{t}}</script>', 'a</b', '! 400'],
  ['html', '<script>{{t}}</script>', 'a<!--b', '! 400'],
  ['html', '<script>{{t | append: ""}}</script>', '</script><p>', '<script></script>'],
  ['html', '<script><{{t}}</script>', '/script>', '! 400'],
  ['html', '<script>{{t}}</script>', 'a < b', '<script>a < b</script>'],
  ['html', '<script>{{t}}{{u}}', '<', '! 400'],
  ['html', '<!-- <script> -->{{t}}', '&', '<!-- <script> -->&amp;'],
  ['html', '<!--><script>{{t}}</script>', '&', '<!--><script>&</script>'],
  ['html', '<p title="<script>">{{t}}', '&', '<p title="<script>">&amp;'],
  ['html', '<textarea><script>{{t}}</textarea>', '&', '<textarea><script>&amp;</textarea>'],
  ['html', '<svg><style>{{t}}</style></svg><style>{{t}}', '<', '<svg><style>&lt;</style></svg><style><'],
  ['html', '<![CDATA[{{t}}]]>', '&', '<![CDATA[&amp;]]>'],
  ['html', 'a < b <scripts>{{t}}', '&', 'a < b <scripts>&amp;'],
  ['html', '<p>{{t}}', 'a\0', '! 400'],
  ['html', '<p="x>{{t}}', 'a\nb', '<p="x>a\nb'],
  ['html', '<script/ a = "/">{{t}}</script>', '<', '<script/ a = "/"><</script>'],
  ['html', '<svg a="b"/><style>{{t}}</style>', '<', '<svg a="b"/><style><</style>'],
  ['csv', '"{{t}}",{{u}}\r\n', 'say "hi", you', '"say ""hi"", you",\r\n'],
  ['csv', 'a,{{t}}\n', 'plain value', 'a,plain value\n'],
  ['csv', '"a ""{{t}}"" b"', '"', '"a """""" b"'],
  ['csv', '\ufeff"{{t}}"', '"', '\ufeff""""'],
  ['csv', '"a",{{t}}', 'a"b', '! 400'],
  ['csv', 'a;{{t}}', 'a;b', '! 400'],
  ['csv', '5" disk,{{t}}', 'a,b', '! 400'],
  ['csv', '"a"\n{{t}}', 'a\nb', '! 400'],
  ['csv', '{{t | append: ""}},b', 'a,b', ',b'],
  ['text', '"{{t}}",<{{t}}>', tom, `"${tom}",<${tom}>`],
  ['text', '{{t}}', 'a\ud800', '! 400'],
])('%s %s with %j is %j, whole as divided anywhere', async (kind, body, value, expected) => {
  expect(await outcomes({ kind, body, values: { t: value, u: kind === 'xml' ? '>' : '' } })).toEqual([expected]);
});

test.each<[kind: TextKind, body: string, value: string, expected: string]>([
  ['xml', '<a b="{{t}}" c=\'{{t}}\'>{{t}}</a>', '\u00e9&', '<a b="&#233;&amp;" c=\'&#233;&amp;\'>&#233;&amp;</a>'],
  ['xml', '<!DOCTYPE a [<!ENTITY e "{{t}}">]>', '\u{1f600}', '<!DOCTYPE a [<!ENTITY e "&#128512;">]>'],
  ['xml', '<a>{{t}}</a>', '\x80\x92', '<a>&#128;&#146;</a>'],
  ['xml', '<![CDATA[{{t}}]]>', '\u2019', '<![CDATA[\x92]]>'],
  ['xml', '<!-- {{t}} --><?p {{t}}?>', '\u2019', '<!-- \x92 --><?p \x92?>'],
  ['xml', '<{{t}} {{t}}="">', '\u00e9', '<\xe9 \xe9="">'],
  ['xml', '<a b="c"{{t}}>', '\u00e9', '<a b="c"\xe9>'],
  ['xml', '<!DOCTYPE {{t}}>', '\u00e9', '<!DOCTYPE \xe9>'],
  ['xml', '<![CDATA[{{t}}]]>', '\u65e5', '! 400'],
  ['xml', '<![CDATA[{{t | append: ""}}]]>', '\u65e5', '<![CDATA[]]>'],
  ['xml', '<a {{t}}="">', '\u65e5', '! 400'],
  ['html', '<p a={{t}} b = c{{t}} {{t}}>', '\u00e9', '<p a=&#233; b = c&#233; \xe9>'],
  ['html', '<p a= {{t}}{{u}}x{{t}}=y>', '\u00e9', '<p a= &#233;x&#233;=y>'],
  ['html', '<p a="b"{{t}}>', '\u00e9', '<p a="b"\xe9>'],
  ['html', '<p>{{t}}', '\x81', '<p>\x81'],
  ['html', '<p>{{t}}', '\x92', '! 400'],
  ['html', '<script>{{t}}</script><style>{{t}}</style>', '\u2019', '<script>\x92</script><style>\x92</style>'],
  ['html', '<script>{{t}}</script>', '\u65e5', '! 400'],
  ['csv', '"{{t}}"', '\u2019', '"\x92"'],
  ['csv', '"{{t}}"', '\u65e5', '! 400'],
  ['text', '{{t}}', '\u65e5', '! 400'],
  ['text', '{{t | append: ""}}.', '\u65e5', '.'],
])('in windows-1252: %s %s with %j is %j', async (kind, body, value, expected) => {
  const charset = charsetNamed('windows-1252');
  expect(await outcomes({ kind, charset, body, values: { t: value, u: '' } })).toEqual([expected]);
});

const markup = fc.constantFrom(
  ...[
    '<',
    '>',
    '/',
    '!',
    '-',
    '--',
    '-->',
    '<!--',
    '<![CDATA[',
    ']]>',
    ']',
    '<?',
    '?>',
    '<!DOCTYPE',
    '[',
    '"',
    "'",
    '=',
  ],
  ...[
    '<script>',
    '</script>',
    '<style',
    '</style>',
    '<textarea>',
    '<svg>',
    '</svg>',
    'a',
    ' ',
    '\n',
    ',',
    ';',
    '\u00e9',
  ],
);
const pieces = fc.array(
  fc.oneof({ weight: 3, arbitrary: markup }, fc.constantFrom('{{t}}', '{{u}}', '{{t|append:""}}')),
  {
    maxLength: 14,
  },
);
const kinds = fc.constantFrom<TextKind>('xml', 'html', 'csv');
const someValue = fc.array(fc.constantFrom(']', ']]>', '>', '<', '-', '--', '</', '"', ',', '&', 'a', '\r', ''), {
  maxLength: 4,
});

slow('3.3 s')('wherever a body is divided, it comes out as if it had been whole', async () => {
  await fc.assert(
    fc.asyncProperty(kinds, pieces, someValue, someValue, async (kind, parts, t, u) => {
      const body = parts.join('').replaceAll(/\{(?=\{\{)/g, '');
      const seen = await outcomes({ kind, body, values: { t: t.join(''), u: u.join('') } });
      expect([body, ...seen]).toHaveLength(2);
    }),
    { numRuns: 300 },
  );
});

test('a body without expressions comes out byte for byte, and a value never ends its section', async () => {
  fc.assert(
    fc.property(kinds, fc.array(markup, { maxLength: 20 }), (kind, parts) => {
      const body = parts.join('');
      expect(whole({ kind, body, values: {} }).toString()).toBe(body);
    }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(']', '>', 'a', ']]>', '&', '<'), { maxLength: 8 }),
      someValue,
      (around, value) => {
        const before = around.join('').replaceAll(']]>', ']] >');
        const t = value.join('');
        const filled = whole({ kind: 'xml', body: `<![CDATA[${before}{{t}}]]>`, values: { t } }).toString();
        expect(cdataOf(filled)).toBe(`${before}${t}`);
      },
    ),
    { numRuns: 500 },
  );
});

/** The text of sections, between which only references stand. */
function cdataOf(xml: string): string {
  const sections = xml.matchAll(/<!\[CDATA\[(.*?)\]\]>(&#13;)?/gs);
  return Array.from(sections, ([, text = '', reference]) => text + (reference ? '\r' : '')).join('');
}
