import { environmentOf, type Manifest, nameOf, ofKind, workloadsOf } from '../manifest.ts';
import type { Product } from '../product.ts';

const settings = ['CONSOLE_HOST', 'FIELDS_HOST', 'ROUTES_HOST'] as const;

/**
 * Faults in the hosts of services. A service that knows other hosts than its neighbours could answer with a
 * destination's page at the console's host, so all services with these settings must have the same.
 */
export function hostFaults(manifests: readonly Manifest[], schemas: Product['schemas']): string[] {
  const environments = workloadsOf(manifests).map(({ name, container }) => ({ name, given: environmentOf(container) }));
  const valuesOf = (setting: string) =>
    environments.filter(({ name }) => schemas[name]?.properties[setting]).map(({ given }) => given[setting]);
  const different = settings.filter((setting) => new Set(valuesOf(setting)).size > 1);
  const baseUrls = new Set(valuesOf('BASE_URL'));
  const [baseUrl = 'https://unknown.invalid'] = baseUrls;
  const [console, fields, routes] = settings.map((setting) => valuesOf(setting)[0]);
  const wanted = [new URL(baseUrl).host, console, fields, routes && `*.${routes}`].filter((host) => host !== undefined);
  return [
    ...different.map((setting) => `${setting} is not the same in every service`),
    ...(baseUrls.size > 1 ? ['BASE_URL is not the same in every service'] : []),
    ...ofKind(manifests, 'Ingress').flatMap(({ spec }) => {
      const rules = spec?.rules ?? [];
      const encrypted = (spec?.tls ?? []).flatMap(({ hosts }) => hosts ?? []);
      return [
        ...differences(
          rules.map(({ host }) => host ?? 'any host'),
          wanted,
        ),
        ...wanted.filter((host) => !encrypted.includes(host)).map((host) => `Ingress: ${host} has no certificate`),
        ...rules.flatMap(({ host, http }) => pathFaults(http?.paths ?? [], host)),
      ];
    }),
    ...ofKind(manifests, 'Ingress').flatMap((ingress) => deadBackends(ingress, manifests)),
  ];
}

function differences(found: readonly string[], wanted: readonly string[]): string[] {
  return [
    ...wanted.filter((host) => !found.includes(host)).map((host) => `Ingress: lacks ${host}`),
    ...found.filter((host) => !wanted.includes(host)).map((host) => `Ingress: has ${host}`),
  ];
}

type Ingress = Extract<Manifest, { kind: 'Ingress' }>;
type Paths = NonNullable<NonNullable<NonNullable<NonNullable<Ingress['spec']>['rules']>[number]['http']>['paths']>;

/** Our own ingress has the table of hosts and paths, so the cluster's must pass everything on to it. */
function pathFaults(paths: Paths, host = 'any host'): string[] {
  const found = paths.map(({ path, pathType, backend }) => `${pathType} ${path} to ${backend.service?.name}`);
  const wanted = 'Prefix / to ingress';
  return [
    ...(found.includes(wanted) ? [] : [`Ingress: ${host} lacks ${wanted}`]),
    ...found.filter((path) => path !== wanted).map((path) => `Ingress: ${host} has ${path}`),
  ];
}

function deadBackends({ spec }: Ingress, manifests: readonly Manifest[]): string[] {
  const services = new Map(ofKind(manifests, 'Service').map((service) => [nameOf(service), service]));
  const named = (spec?.rules ?? []).flatMap(({ http }) =>
    (http?.paths ?? []).flatMap(({ backend }) => backend.service ?? []),
  );
  const dead = named.filter(
    ({ name, port }) => !services.get(name)?.spec?.ports?.some((one) => one.name === port?.name),
  );
  return [...new Set(dead.map(({ name, port }) => `Ingress: the Service ${name} has no port ${port?.name}`))];
}
