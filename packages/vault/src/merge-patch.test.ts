import fc from 'fast-check';
import { mergePatch } from './merge-patch.ts';

/** RFC 7386 appendix A: original, patch, result. */
const appendixA = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
] as const;

test.each(appendixA)('%s patched with %s is %s', (original, patch, result) => {
  expect(mergePatch(JSON.parse(original), JSON.parse(patch))).toEqual(JSON.parse(result));
});

test('a member called __proto__ is a member and reaches no prototype', () => {
  const merged = mergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}'));
  expect(JSON.stringify(merged)).toBe('{"__proto__":{"polluted":true}}');
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
});

test('patching twice with the same patch is patching once', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
      const once = mergePatch(target, patch);
      expect(mergePatch(once, patch)).toEqual(once);
    }),
  );
});
