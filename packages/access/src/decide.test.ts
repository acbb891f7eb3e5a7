import fc from 'fast-check';
import { type AccessRule, canonicalContainer, covers, decide, holds, isGrantedOnEach } from './index.ts';

const rule = (part: Partial<AccessRule>): AccessRule => ({
  priority: 1,
  container: '/',
  transform: 'redact',
  permissions: ['token:read'],
  ...part,
});

describe('containers', () => {
  test.each([
    ['/a/b', '/a/b/'],
    ['a', '/a/'],
    ['/', '/'],
    ['', '/'],
    ['/a/', '/a/'],
  ])('%s is compared as %s', (sent, canonical) => expect(canonicalContainer(sent)).toBe(canonical));

  test.each([
    ['/', '/pci/high/', true],
    ['/pci/', '/pci/high/', true],
    ['/pci', '/pci', true],
    ['/pci/high/', '/pci/', false],
    ['/pci/', '/pci-other/', false],
    ['/PCI/', '/pci/', false],
  ])('a grant on %s reaches %s: %s', (granted, container, expected) =>
    expect(covers(granted, container)).toBe(expected),
  );
});

describe('decide', () => {
  test('nothing granted, nothing allowed', () => {
    expect(decide({ permissions: [], rules: [] }, 'token:read', ['/'])).toBeUndefined();
  });

  test('a flat permission reaches every container and masks', () => {
    expect(decide({ permissions: ['token:read'], rules: [] }, 'token:read', ['/pci/high/'])).toBe('mask');
  });

  test('the rule with the lowest priority value decides, whatever its position', () => {
    const rules = [rule({ priority: 5, transform: 'redact' }), rule({ priority: 2, transform: 'reveal' })];
    expect(decide({ permissions: [], rules }, 'token:read', ['/a/'])).toBe('reveal');
  });

  test('equal priorities are decided by position', () => {
    const rules = [rule({ transform: 'mask' }), rule({ transform: 'reveal' })];
    expect(decide({ permissions: [], rules }, 'token:read', ['/a/'])).toBe('mask');
  });

  test('a rule comes before a flat permission even where it shows less', () => {
    const grants = { permissions: ['token:read'], rules: [rule({ transform: 'redact' })] };
    expect(decide(grants, 'token:read', ['/a/'])).toBe('redact');
  });

  test('a rule for another container or another permission does not decide', () => {
    const rules = [
      rule({ container: '/pci/', transform: 'reveal' }),
      rule({ permissions: ['token:use'], transform: 'reveal' }),
    ];
    expect(decide({ permissions: ['token:read'], rules }, 'token:read', ['/general/'])).toBe('mask');
    expect(decide({ permissions: [], rules }, 'token:read', ['/general/'])).toBeUndefined();
  });

  test('one of several containers is enough to read, all are needed to create', () => {
    const grants = {
      permissions: [],
      rules: [rule({ container: '/a/', permissions: ['token:create', 'token:read'] })],
    };
    expect(decide(grants, 'token:read', ['/b/', '/a/'])).toBe('redact');
    expect(isGrantedOnEach(grants, 'token:create', ['/b/', '/a/'])).toBe(false);
    expect(isGrantedOnEach(grants, 'token:create', ['/a/x/', '/a/'])).toBe(true);
  });

  test('a rule without container (management) reaches everything', () => {
    const { container: _, ...everywhere } = rule({ permissions: ['proxy:read'] });
    expect(decide({ permissions: [], rules: [everywhere] }, 'proxy:read', ['/x/'])).toBe('redact');
    expect(holds({ permissions: [], rules: [everywhere] }, 'proxy:read')).toBe(true);
  });

  test('agrees with sorting by priority and taking the first that applies', () => {
    const segment = fc.constantFrom('a', 'b', 'a-b');
    const container = fc.array(segment, { maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
    const anyRule = fc.record({
      priority: fc.integer({ min: 1, max: 4 }),
      container,
      transform: fc.constantFrom('redact' as const, 'mask' as const, 'reveal' as const),
      permissions: fc.subarray(['token:read', 'token:use']),
    });
    fc.assert(
      fc.property(
        fc.array(anyRule, { maxLength: 6 }),
        fc.array(container, { minLength: 1, maxLength: 3 }),
        (rules, at) => {
          const sorted = rules.map((r, position) => ({ r, position }));
          sorted.sort((x, y) => x.r.priority - y.r.priority || x.position - y.position);
          const first = sorted.find(
            ({ r }) => r.permissions.includes('token:read') && at.some((c) => covers(r.container, c)),
          );
          expect(decide({ permissions: [], rules }, 'token:read', at)).toBe(first?.r.transform);
        },
      ),
    );
  });
});
