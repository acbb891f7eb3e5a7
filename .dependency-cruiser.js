// The arrows of the house: who may import whom. `npm run boundaries` checks them.
const service = '^services/([^/]+)/';
const leafPackages = ['access', 'problems', 'database', 'service-runtime', 'destination-policy'];
/** What tsconfig.browser.json checks. */
const browserCode = '^packages/((elements|console)/src|testing/src/browser/in-page)/';
const tests = ['\\.test\\.ts$', '/testing/'];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'services-never-import-each-other',
      severity: 'error',
      from: { path: service },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'packages-never-import-services-or-infra',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(services|infra)/' },
    },
    { name: 'services-never-import-infra', severity: 'error', from: { path: '^services/' }, to: { path: '^infra/' } },
    {
      name: 'leaf-packages-import-no-other-package',
      comment: `${leafPackages.join(', ')} stand on their own; fair-turns, which imports nothing, is for all`,
      severity: 'error',
      from: { path: `^packages/(${leafPackages.join('|')})/`, pathNot: tests },
      to: { path: '^packages/', pathNot: ['^packages/$1/', '^packages/fair-turns/'] },
    },
    {
      name: 'fair-turns-imports-nothing',
      comment: 'so that every package can use it',
      severity: 'error',
      from: { path: '^packages/fair-turns/', pathNot: tests },
      to: { pathNot: '^packages/fair-turns/' },
    },
    {
      name: 'only-destination-touches-http-clients',
      severity: 'error',
      from: { path: '^(services|packages)/', pathNot: ['^services/proxy-gateway/src/destination/', ...tests] },
      to: { path: 'node_modules/(http-proxy|undici)/' },
    },
    {
      name: 'only-sandbox-touches-threads-and-engine',
      severity: 'error',
      from: { path: '^(services|packages)/', pathNot: '^packages/sandbox/' },
      to: { path: '(^(node:)?worker_threads$|node_modules/(piscina|quickjs-emscripten[^/]*)/)' },
    },
    {
      name: 'only-http-api-touches-express',
      severity: 'error',
      from: { path: '^(services|packages)/', pathNot: ['^packages/http-api/', ...tests] },
      to: { path: 'node_modules/(express|pino-http)/' },
    },
    {
      name: 'redis-behind-two-packages',
      comment: 'connections and queues in redis, announcements in cache-coherence',
      severity: 'error',
      from: { path: '^(services|packages)/', pathNot: ['^packages/(cache-coherence|redis)/', ...tests] },
      to: { path: 'node_modules/(ioredis|bullmq)/' },
    },
    {
      name: 'the-ingress-installs-little',
      comment: 'its image has all that these packages depend on',
      severity: 'error',
      from: { path: '^(infra/ingress|packages/hosts)/', pathNot: tests },
      to: { path: '^packages/', pathNot: '^packages/(hosts|problems|service-runtime)/' },
    },
    {
      name: 'only-limits-touches-the-rate-limiter',
      comment: 'rate-limits knows what happens while Redis is away',
      severity: 'error',
      from: { path: '^(services|packages)/', pathNot: '^packages/rate-limits/' },
      to: { path: 'node_modules/rate-limiter-flexible/' },
    },
    {
      name: 'nouns-never-import-the-invocation',
      comment: 'the gateway: what a step works with stands below the order of the steps',
      severity: 'error',
      from: {
        path: '^services/proxy-gateway/src/(http|observation|proxies|acting|code|detokenization|transforms|destination|limits)/',
        pathNot: tests,
      },
      to: { path: '^services/proxy-gateway/src/(invocation|server)/' },
    },
    {
      name: 'reactors-import-no-transforms',
      comment: 'what both need is in code/',
      severity: 'error',
      from: { path: '^services/proxy-gateway/src/(reactors|code|acting)/', pathNot: tests },
      to: { path: '^services/proxy-gateway/src/transforms/' },
    },
    {
      name: 'the-sandbox-knows-no-values',
      severity: 'error',
      from: { path: '^packages/sandbox/', pathNot: tests },
      to: { path: '^packages/(vault|credentials)/' },
    },
    {
      name: 'http-values-import-nothing-above',
      severity: 'error',
      from: { path: '^services/proxy-gateway/src/http/', pathNot: tests },
      to: { path: '^services/proxy-gateway/src/', pathNot: '^services/proxy-gateway/src/http/' },
    },
    {
      name: 'queries-import-no-routes-and-no-rules',
      severity: 'error',
      from: { path: '\\.queries\\.ts$' },
      to: { path: '\\.(routes|definition|grants|secrets)\\.ts$' },
    },
    {
      name: 'services-import-no-client',
      comment: 'the library and the command line are for who calls the services',
      severity: 'error',
      from: { path: '^(services|packages)/', pathNot: ['^packages/(sdk|cli|console)/', ...tests] },
      to: { path: '^packages/(sdk|cli)/' },
    },
    {
      name: 'only-mcp-loads-the-protocol',
      comment: 'when it runs, so that no other command waits for it',
      severity: 'error',
      from: { path: '^(services|packages)/' },
      to: { path: 'node_modules/@modelcontextprotocol/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'the-library-imports-nothing',
      comment: 'it runs in browsers too, and has no dependencies',
      severity: 'error',
      from: { path: '^packages/sdk/', pathNot: tests },
      to: { pathNot: '^packages/sdk/' },
    },
    {
      name: 'browser-code-runs-in-browsers',
      comment:
        'of this repository it imports only itself, the library, and access, a leaf without modules of Node; the linter refuses those',
      severity: 'error',
      from: { path: browserCode, pathNot: tests.slice(0, 1) },
      to: { path: '^(services|packages|infra)/', pathNot: ['^packages/$1/', '^packages/(sdk|access)/'] },
    },
    {
      name: 'folders-of-the-console-point-one-way',
      comment: 'router and screens, then app, ui, api',
      severity: 'error',
      from: { path: '^packages/console/src/(app|ui|api)/' },
      to: {
        path: [
          '^packages/console/src/(screens/reactor-formulas|router)',
          '^packages/console/src/screens/(?!reactors/)',
          '^packages/console/src/screens\\.ts',
        ],
      },
    },
    {
      name: 'screens-of-the-console-point-one-way',
      comment: 'a formula knows reactors, and a reactor its invocations, not the other way round',
      severity: 'error',
      from: { path: '^packages/console/src/screens/(reactors|invocations)/' },
      to: {
        path: '^packages/console/src/(router|screens\\.ts|screens/(?!reactors/|invocations/))',
      },
    },
    {
      name: 'invocations-of-the-console-know-no-other-screen',
      severity: 'error',
      from: { path: '^packages/console/src/screens/invocations/' },
      to: { path: '^packages/console/src/screens/(?!invocations/)' },
    },
    {
      name: 'api-of-the-console-imports-no-components',
      severity: 'error',
      from: { path: '^packages/console/src/api/' },
      to: { path: '^packages/console/src/(ui|app|code|editor)/' },
    },
    {
      name: 'no-service-imports-browser-code',
      comment: 'services hand it out as files; they run none of it',
      severity: 'error',
      from: { path: '^services/' },
      to: { path: '^packages/(elements|console)/' },
    },
    {
      name: 'testing-is-for-tests',
      severity: 'error',
      from: { path: '^(services|packages)/', pathNot: tests },
      to: { path: '/testing/' },
    },
    {
      name: 'nobody-imports-benchmarks-and-whole-system-tests',
      severity: 'error',
      from: { pathNot: '^infra/(bench|e2e)/' },
      to: { path: '^infra/(bench|e2e)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
