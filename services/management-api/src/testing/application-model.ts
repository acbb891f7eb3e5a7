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
type Grants = { permissions: string[]; rules: Body[] };
type Application = Grants & {
  id: string;
  created_at: string;
  name: string;
  type: string;
  expires_at?: string;
  keys: string[];
  isChanged: boolean;
  isDeleted: boolean;
};

/** Numbers are those of created resources. Key 1 of an Application is its current one, key 2 the previous one. */
export type ApplicationCommand =
  | { do: 'create'; body: Body }
  | { do: 'get' | 'delete' | 'regenerate'; application: number }
  | { do: 'put'; application: number; body: Body }
  | { do: 'list'; query: ListQuery }
  | { do: 'get by key' | 'list permissions'; application: number; key: number };

export const dates: Record<string, string | undefined> = {
  '2999-01-02': '2999-01-02T00:00:00.000Z',
  '2999-01-02T03:04:05': '2999-01-02T03:04:05.000Z',
  '2999-01-02T03:04:05.6789+02:00': '2999-01-02T01:04:05.678Z',
  '2000-01-01': undefined,
  '2999-02-30': undefined,
  soon: undefined,
};

const tokenPermissions = all({ token: 'create update read search delete use' });
const holdable: Record<string, string[]> = {
  public: tokenPermissions.slice(0, 2),
  private: tokenPermissions,
  management: all({
    tenant: 'read update delete',
    application: 'read create update delete',
    log: 'read',
    reactor: 'read create update delete',
    proxy: 'read create update delete',
    'tenant:member': 'read update delete',
    'tenant:invitation': 'create read update delete',
    report: 'read',
  }),
};

function all(actions: Record<string, string>): string[] {
  return Object.entries(actions).flatMap(([on, list]) => list.split(' ').map((action) => `${on}:${action}`));
}

/** A test of the model breaks one rule of the specification at a time. */
export const applicationRules = {
  mayHold: (type: string, permission: string): boolean => holdable[type]?.includes(permission) ?? false,
  needsContainer: (type: string): boolean => type !== 'management',
  granted: (list: readonly string[]): string[] => [...new Set(list)],
  isAccepted: (application: Application, key: number): boolean => !application.isDeleted && key === 1,
  typeAfterPut: (application: Application, _body: Body): string => application.type,
};

const accessRule = ['description', 'priority', 'container', 'conditions', 'transform', 'permissions'];
const containers = /^\/?[\w-]+(\/[\w-]+)*\/?$|^\/$/;

export function applicationModel(
  tenant: { tenant_id: string; application_id: string },
  createdAt: string,
  rules = applicationRules,
) {
  const applications: Application[] = [];
  const manager = {
    id: tenant.application_id,
    tenant_id: tenant.tenant_id,
    name: 'Management',
    type: 'management',
    permissions: holdable.management,
    rules: [],
    created_at: createdAt,
  };

  function step(command: ApplicationCommand): Step {
    switch (command.do) {
      case 'create':
        return create(command.body);
      case 'list':
        return list(command.query);
      case 'get by key':
      case 'list permissions':
        return present(command.application, command.key, command.do);
    }
    const found = find(command.application);
    const path = `/applications/${idAt(applications, command.application)}`;
    switch (command.do) {
      case 'get':
        return { method: 'GET', path, expected: found ? { status: 200, body: answer(found) } : notFound };
      case 'put':
        return { method: 'PUT', path, options: { body: command.body }, expected: put(found, command.body) };
      case 'delete':
        if (found) found.isDeleted = true;
        return { method: 'DELETE', path, expected: found ? noContent : notFound };
      case 'regenerate': {
        const request = { method: 'POST', path: `${path}/regenerate` };
        if (!found) return { ...request, expected: notFound };
        found.isChanged = true;
        const body = { ...answer(found), key: keyPattern(found.type) };
        return { ...request, expected: { status: 200, body }, learn: ({ key }) => found.keys.unshift(key) };
      }
    }
  }

  function create(body: Body): Step {
    const request = { method: 'POST', path: '/applications', options: { body } };
    const { name, type, expires_at, ...grants } = dropNulls(body);
    const faults = [...shapeFaults({ ...grants, name }), ...grantFaults(grants, `${type}`)];
    if (!['private', 'public', 'management'].includes(`${type}`)) faults.push('type');
    if (expires_at !== undefined && !dates[`${expires_at}`]) faults.push('expires_at');
    if (faults.length > 0) return { ...request, expected: { faults } };
    const date = dates[`${expires_at}`];
    const made: Application = {
      id: uuidText as unknown as string,
      created_at: isoDate as unknown as string,
      name: `${name}`,
      type: `${type}`,
      ...toGrants(grants),
      ...(date !== undefined && { expires_at: date }),
      keys: [],
      isChanged: false,
      isDeleted: false,
    };
    return {
      ...request,
      expected: { status: 201, body: { ...answer(made), key: keyPattern(made.type) } },
      learn: ({ id, key, created_at }) => applications.push({ ...made, id, created_at, keys: [key] }),
    };
  }

  function put(found: Application | undefined, body: Body): Expected {
    const { name, permissions, rules: accessRules } = dropNulls(body);
    const grants = {
      ...(permissions !== undefined && { permissions }),
      ...(accessRules !== undefined && { rules: accessRules }),
    };
    const faults = shapeFaults({ ...grants, name });
    // Except for an empty one, a name is judged beside the stored one, which is accepted as it is.
    const isNameShaped = typeof name === 'string' && name !== '';
    if (faults.some((fault) => fault !== 'name' || !isNameShaped)) return { faults };
    if (!found) return faults.length > 0 ? { faults } : notFound;
    const type = rules.typeAfterPut(found, body);
    faults.push(...grantFaults(grants, type));
    if (faults.length > 0) return { faults };
    Object.assign(found, { name, type, ...toGrants(grants), isChanged: true });
    return { status: 200, body: answer(found) };
  }

  function list(query: ListQuery): Step {
    const idOf = (n: number) => idAt(applications, n);
    const ids = (query.ids ?? []).map(idOf);
    const present = applications.filter(({ isDeleted }) => !isDeleted).sort(byAge);
    const all = [...present.map(answer), manager];
    const matching = all.filter(({ id }) => ids.length === 0 || ids.includes(`${id}`));
    return { method: 'GET', path: `/applications${toQuery(query, idOf)}`, expected: pageOf(matching, query) };
  }

  /** A key is accepted while it is current; its permissions are checked separately. */
  function present(n: number, key: number, what: 'get by key' | 'list permissions'): Step {
    const application = applications[n];
    const options = { key: application?.keys[key - 1] ?? 'svc_test_mgt_none' };
    const path = what === 'get by key' ? '/applications/key' : '/permissions';
    const expected = (): Expected => {
      if (!application?.keys[key - 1] || !rules.isAccepted(application, key)) return problem(401, 'Unauthorized');
      if (what === 'list permissions') return { status: 200, body: expect.any(Array) };
      const held = [application.permissions, ...application.rules.map((rule) => rule.permissions as string[])].flat();
      return held.includes('application:read') ? { status: 200, body: answer(application) } : problem(403, 'Forbidden');
    };
    return { method: 'GET', path, options, expected: expected() };
  }

  function answer({ keys: _, isChanged, isDeleted: __, ...application }: Application): Body {
    return {
      ...application,
      tenant_id: tenant.tenant_id,
      created_by: tenant.application_id,
      ...(isChanged && { modified_by: tenant.application_id, modified_at: isoDate }),
    };
  }

  function shapeFaults({ name, permissions = [], rules: accessRules = [] }: Body): string[] {
    const faults = isName(name) ? [] : ['name'];
    faults.push(...textFaults('permissions', permissions));
    if (!Array.isArray(accessRules)) return [...faults, 'rules'];
    faults.push(...accessRules.flatMap((rule, i) => ruleFaults(rule, `rules[${i}]`)));
    const isEmpty = Array.isArray(permissions) && permissions.length + accessRules.length === 0;
    return isEmpty ? [...faults, 'permissions', 'rules'] : faults;
  }

  function grantFaults({ permissions = [], rules: accessRules = [] }: Body, type: string): string[] {
    if (!Array.isArray(permissions) || !Array.isArray(accessRules)) return [];
    const faults = unholdable(permissions, 'permissions', type);
    accessRules.filter(isObject).forEach((rule, i) => {
      const { container, conditions, permissions } = dropNulls(rule);
      if (Array.isArray(permissions)) faults.push(...unholdable(permissions, `rules[${i}].permissions`, type));
      if (container === undefined && rules.needsContainer(type)) faults.push(`rules[${i}].container`);
      const areConditions = Array.isArray(conditions) && conditions.length > 0;
      if (areConditions) faults.push(`rules[${i}].conditions`);
    });
    return faults;
  }

  function unholdable(list: unknown[], path: string, type: string): string[] {
    return list.flatMap((one, i) => (rules.mayHold(type, `${one}`) ? [] : [`${path}[${i}]`]));
  }

  function toGrants({ permissions = [], rules: accessRules = [] }: Body): Grants {
    const ofRule = (rule: Body) => ({ ...dropNulls(rule), permissions: rules.granted(rule.permissions as string[]) });
    return { permissions: rules.granted(permissions as string[]), rules: (accessRules as Body[]).map(ofRule) };
  }

  const find = (n: number): Application | undefined => (applications[n]?.isDeleted ? undefined : applications[n]);

  return { step };
}

const kinds: Record<string, string> = { private: 'prv', public: 'pub', management: 'mgt' };

function keyPattern(type: string): unknown {
  return expect.stringMatching(new RegExp(`^svc_test_${kinds[type]}_[0-9A-Za-z]{49}$`));
}

function textFaults(path: string, list: unknown): string[] {
  if (!Array.isArray(list)) return [path];
  return list.flatMap((one, i) => (typeof one === 'string' ? [] : [`${path}[${i}]`]));
}

function ruleFaults(rule: unknown, path: string): string[] {
  if (!isObject(rule)) return [path];
  const { description = '', priority, container = '/', conditions = [], transform, permissions } = dropNulls(rule);
  const faults = Object.keys(rule).filter((member) => !accessRule.includes(member));
  if (typeof description !== 'string') faults.push('description');
  if (!Number.isInteger(priority) || Number(priority) < 1) faults.push('priority');
  if (typeof container !== 'string' || !containers.test(container)) faults.push('container');
  if (!Array.isArray(conditions)) faults.push('conditions');
  if (!['redact', 'mask', 'reveal'].includes(`${transform}`)) faults.push('transform');
  return [...faults, ...textFaults('permissions', permissions)].map((member) => `${path}.${member}`);
}
