// The arrows of the house: who may import whom. `npm run boundaries` checks them.
const service = '^services/([^/]+)/';
const leafPackages = ['access', 'problems', 'jobs', 'service-runtime', 'destination-policy'];

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
    { name: 'packages-never-import-services-or-infra', severity: 'error', from: { path: '^packages/' }, to: { path: '^(services|infra)/' } },
    { name: 'services-never-import-infra', severity: 'error', from: { path: '^services/' }, to: { path: '^infra/' } },
    {
      name: 'leaf-packages-import-no-other-package',
      comment: 'access, problems, jobs and service-runtime stand on their own',
      severity: 'error',
      from: { path: `^packages/(${leafPackages.join('|')})/` },
      to: { path: '^packages/', pathNot: '^packages/$1/' },
    },
    {
      name: 'database-imports-no-other-package',
      severity: 'error',
      from: { path: '^packages/database/' },
      to: { path: '^packages/', pathNot: '^packages/database/' },
    },
    {
      name: 'only-forward-touches-http-clients',
      severity: 'error',
      from: { path: '^services/', pathNot: ['^services/proxy-gateway/src/destination/', '\\.test\\.ts$'] },
      to: { path: 'node_modules/(http-proxy|undici)/' },
    },
    { name: 'only-sandbox-touches-piscina', severity: 'error', from: { path: '^(services|packages)/', pathNot: '^packages/sandbox/' }, to: { path: 'node_modules/(piscina|quickjs-emscripten[^/]*)/' } },
    { name: 'queries-never-import-routes', severity: 'error', from: { path: '\\.queries\\.ts$' }, to: { path: '\\.routes\\.ts$' } },
    { name: 'testing-is-for-tests', severity: 'error', from: { path: '^(services|packages)/', pathNot: ['\\.test\\.ts$', '^packages/testing/', '^services/[^/]+/src/testing/'] }, to: { path: '^packages/testing/' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'], extensions: ['.ts', '.js', '.json'] },
  },
};
