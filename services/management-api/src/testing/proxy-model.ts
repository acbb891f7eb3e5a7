import {
  byAge,
  dropNulls,
  type Expected,
  idAt,
  isName,
  isObject,
  type ListQuery,
  noContent,
  notFound,
  pageOf,
  problem,
  type Step,
  toQuery,
} from './model-check.ts';
import { isoDate, uuidText } from './test-management.ts';

type Body = Record<string, unknown>;
type Application = { id: string; type: string; isDeleted: boolean };
interface Proxy {
  id: string;
  key: string;
  created_at: string;
  definition: Body;
  /** The Application that the newest change named, also once that is gone. */
  named: unknown;
  isChanged: boolean;
  isDeleted: boolean;
}

/** Numbers refer to created resources, in their order; "application 0" in a body is the id of the first Application. */
export type ProxyCommand =
  | { do: 'create'; body: Body }
  | { do: 'get' | 'delete'; proxy: number }
  | { do: 'put' | 'patch'; proxy: number; body: Body }
  | { do: 'list'; query: ListQuery }
  | { do: 'create application'; type: string }
  | { do: 'delete application'; application: number };

export const code = 'module.exports = async () => ({})';
export const brokenCode = 'module.exports = (';
export const destinations: Record<string, boolean> = {
  'https://example.com/in': true,
  'HTTPS://Example.com:443/a/../b?x=%7e': true,
  'http://example.com': true,
  'https://example.com/#fragment': false,
  'https://user@example.com/': false,
  'ftp://example.com/': false,
  'example.com': false,
  '': false,
};

/** A test of the model breaks one rule of the specification at a time. */
export const proxyRules = {
  /** RFC 7386 section 2. */
  merge(target: unknown, patch: unknown): unknown {
    if (!isObject(patch)) return patch;
    const old = new Map(Object.entries(isObject(target) ? target : {}));
    const kept = [...old].filter(([name]) => !Object.hasOwn(patch, name));
    const given = Object.entries(patch).filter(([, value]) => value !== null);
    return Object.fromEntries([
      ...kept,
      ...given.map(([name, value]) => [name, proxyRules.merge(old.get(name), value)]),
    ]);
  },
  /** `body` has the nulls that were sent. */
  replace(old: Body, body: Body): Body {
    const left = kept.filter((member) => body[member] === undefined).map((member) => [member, old[member]]);
    return dropNulls({ ...Object.fromEntries(left), ...body });
  },
  /** Names of headers are compared without case, and the patch's spelling stays. */
  respell({ request_headers: old, ...rest }: Body, { request_headers: patch }: Body): Body {
    if (!isObject(old) || !isObject(patch)) return old === undefined ? rest : { ...rest, request_headers: old };
    const patched = Object.keys(patch).map((name) => name.toLowerCase());
    const left = Object.entries(old).filter(([name]) => !patched.includes(name.toLowerCase()));
    return { ...rest, request_headers: Object.fromEntries(left) };
  },
  nameMatches(name: string, filter: string): boolean {
    const parts = filter.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
    const pattern = parts.length === 1 ? `${parts[0]}` : `^${parts.join('.*')}$`;
    return new RegExp(pattern, 'isu').test(name);
  },
  isNamed: (application: Application): boolean => !application.isDeleted,
  keyAfterPut: (proxy: { key: string }): string => proxy.key,
};

const transforms = ['request_transform', 'response_transform'] as const;
/** A PUT keeps these where it does not name them. */
const kept = ['token_places', 'request_headers', 'head_timeout_s', 'response_guard'];
const writable = ['name', 'destination_url', ...transforms, 'configuration', 'require_auth', 'application', ...kept];

export function proxyModel(tenant: { tenant_id: string; application_id: string }, rules = proxyRules) {
  const applications: Application[] = [];
  const proxies: Proxy[] = [];

  function step(command: ProxyCommand): Step {
    switch (command.do) {
      case 'create':
        return create(resolve(command.body));
      case 'get': {
        const found = find(command.proxy);
        return {
          method: 'GET',
          path: path(command.proxy),
          expected: found ? { status: 200, body: answer(found) } : notFound,
        };
      }
      case 'put': {
        const body = resolve(command.body);
        const found = find(command.proxy);
        const definition = rules.replace(found?.definition ?? {}, named(body));
        const expected = change(found, faultsOf(definition), () => definition);
        if (found && 'status' in expected && expected.status === 204) {
          found.named = idOf(definition);
          const body = { ...answer(found), key: rules.keyAfterPut(found) };
          return {
            method: 'PUT',
            path: path(command.proxy),
            options: { body: resolve(command.body) },
            expected: { status: 200, body },
          };
        }
        return { method: 'PUT', path: path(command.proxy), options: { body }, expected };
      }
      case 'patch': {
        const body = resolve(command.body);
        const found = find(command.proxy);
        const blank = { name: 'x', destination_url: 'https://example.com/in' };
        const merged = rules.merge(rules.respell(found ? current(found) : blank, body), named(body)) as Body;
        const options = { body, headers: { 'Content-Type': 'application/merge-patch+json' } };
        const expected = change(found, faultsOf(merged), () => merged);
        const isDone = 'status' in expected && expected.status === 204;
        if (found && isDone && 'application' in named(body)) found.named = idOf(merged);
        return { method: 'PATCH', path: path(command.proxy), options, expected };
      }
      case 'delete': {
        const found = find(command.proxy);
        if (found) found.isDeleted = true;
        return { method: 'DELETE', path: path(command.proxy), expected: found ? noContent : notFound };
      }
      case 'list': {
        const { query } = command;
        const ids = (query.ids ?? []).map((n) => idAt(proxies, n));
        const matching = proxies
          .filter(({ isDeleted }) => !isDeleted)
          .filter(({ id }) => ids.length === 0 || ids.includes(id))
          .filter(({ definition }) => !query.name || rules.nameMatches(`${definition.name}`, query.name));
        const path = `/proxies${toQuery(query, (n) => idAt(proxies, n))}`;
        return { method: 'GET', path, expected: pageOf(matching.sort(byAge).map(answer), query) };
      }
      case 'create application': {
        const { type } = command;
        const permissions = [type === 'management' ? 'proxy:read' : 'token:create'];
        const options = { body: { name: 'A', type, permissions } };
        const learn = ({ id }: { id: string }) => applications.push({ id, type, isDeleted: false });
        return {
          method: 'POST',
          path: '/applications',
          options,
          expected: { status: 201, body: expect.anything() },
          learn,
        };
      }
      case 'delete application': {
        const application = applications[command.application];
        const expected = application && !application.isDeleted ? noContent : notFound;
        if (application) application.isDeleted = true;
        return { method: 'DELETE', path: `/applications/${idAt(applications, command.application)}`, expected };
      }
    }
  }

  function create(body: Body): Step {
    const definition = dropNulls(body);
    const request = { method: 'POST', path: '/proxies', options: { body } };
    const faults = faultsOf(definition);
    if (faults.length > 0) return { ...request, expected: { faults } };
    if (!compiles(definition)) return { ...request, expected: problem(422, 'Transform does not compile') };
    const proxy: Proxy = {
      id: uuidText as unknown as string,
      key: expect.stringMatching(/^[0-9A-Za-z]{32}$/) as unknown as string,
      created_at: '',
      definition: pick(definition),
      named: idOf(definition),
      isChanged: false,
      isDeleted: false,
    };
    const learn = ({ id, key, created_at }: Proxy) => proxies.push({ ...proxy, id, key, created_at });
    return { ...request, expected: { status: 201, body: answer(proxy) }, learn };
  }

  function change(found: Proxy | undefined, faults: readonly string[], next: () => Body): Expected {
    if (faults.length > 0) return { faults };
    if (!found) return notFound;
    const definition = next();
    if (!compiles(definition)) return problem(422, 'Transform does not compile');
    found.definition = pick(definition);
    found.isChanged = true;
    return noContent;
  }

  function current({ definition }: Proxy): Body {
    const { application, ...rest } = definition;
    const named = applications.find(({ id }) => isObject(application) && id === application.id);
    return named && rules.isNamed(named) ? { ...rest, application: { id: named.id } } : rest;
  }

  function answer(proxy: Proxy): Body {
    const { application, ...rest } = current(proxy);
    return {
      ...rest,
      ...(isObject(application) && { application_id: application.id }),
      ...(!isObject(application) && proxy.named !== undefined && { former_application_id: proxy.named }),
      id: proxy.id,
      tenant_id: tenant.tenant_id,
      key: proxy.key,
      created_by: tenant.application_id,
      created_at: isoDate,
      ...(proxy.isChanged && { modified_by: tenant.application_id, modified_at: isoDate }),
    };
  }

  function faultsOf(definition: Body): string[] {
    const { name, destination_url, application, configuration, require_auth } = definition;
    const faults: string[] = [];
    if (!isName(name)) faults.push('name');
    if (typeof destination_url !== 'string' || !destinations[destination_url]) faults.push('destination_url');
    for (const member of transforms) faults.push(...transformFaults(member, definition[member]));
    if (application !== undefined && !isObject(application)) faults.push('application');
    else if (application && !mayAct(application.id)) faults.push('application.id');
    if (configuration !== undefined) faults.push(...configurationFaults(configuration));
    if (require_auth !== undefined && typeof require_auth !== 'boolean') faults.push('require_auth');
    faults.push(...keptFaults(definition));
    return faults;
  }

  function mayAct(applicationId: unknown): boolean {
    return applications.some(({ id, type, isDeleted }) => id === applicationId && type !== 'management' && !isDeleted);
  }

  const find = (n: number): Proxy | undefined => (proxies[n]?.isDeleted ? undefined : proxies[n]);
  const path = (n: number): string => `/proxies/${idAt(proxies, n)}`;
  const resolve = (body: Body): Body =>
    JSON.parse(JSON.stringify(body).replace(/application (\d)(?=")/g, (_, n) => idAt(applications, Number(n))));

  return { step };
}

function named({ application_id: id, ...body }: Body): Body {
  if (Object.hasOwn(body, 'application') || id === undefined) return body;
  return { ...body, application: id === null ? null : { id } };
}

function idOf({ application }: Body): unknown {
  return isObject(application) ? application.id : undefined;
}

function pick(definition: Body): Body {
  const kept = writable.filter((member) => definition[member] !== undefined);
  return { require_auth: true, ...Object.fromEntries(kept.map((member) => [member, definition[member]])) };
}

function compiles(definition: Body): boolean {
  return transforms.every((member) => !isObject(definition[member]) || definition[member].code !== brokenCode);
}

function transformFaults(member: string, transform: unknown): string[] {
  if (transform === undefined) return [];
  if (!isObject(transform)) return [member];
  const unknown = Object.keys(transform).filter((name) => name !== 'code');
  return [...unknown, ...(typeof transform.code === 'string' ? [] : ['code'])].map((name) => `${member}.${name}`);
}

function configurationFaults(configuration: unknown): string[] {
  if (!isObject(configuration)) return ['configuration'];
  const names = Object.keys(configuration).filter((name) => [...name].length > 200);
  const values = Object.entries(configuration).filter(([, value]) => typeof value !== 'string');
  return [
    ...names.map(() => 'configuration'),
    // Bounds the answer, whatever the length of the names that are sent
    ...values.map(([name]) => `configuration.${name}`.slice(0, 200)),
  ];
}

function keptFaults({ configuration, response_guard: guard, ...definition }: Body) {
  const { token_places: places, request_headers: headers, head_timeout_s: seconds } = definition;
  const faults: string[] = [];
  if (places !== undefined && !Array.isArray(places)) faults.push('token_places');
  if (headers !== undefined && !isObject(headers)) faults.push('request_headers');
  for (const [name, text] of Object.entries(isObject(headers) ? headers : {})) {
    const [, config] = /config: (.*?) /.exec(`${text}`) ?? [];
    const isKnown = config === undefined || (isObject(configuration) && Object.hasOwn(configuration, config));
    if (typeof text !== 'string' || !isKnown) faults.push(`request_headers.${name}`);
  }
  const isTime = typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 1 && seconds <= 600;
  if (seconds !== undefined && !isTime) faults.push('head_timeout_s');
  if (guard !== undefined && !/^(off|tokenize|redact|block)$/.test(`${guard}`)) faults.push('response_guard');
  return faults;
}
