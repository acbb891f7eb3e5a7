import type { Role } from '@sluice/access';
import { bodyCheck } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { ConfigError } from '@sluice/service-runtime';

/** Members of this group of the issuer become members of the Tenant, with this role. */
export interface GroupRole {
  group: string;
  tenant_id: string;
  role: Exclude<Role, 'OWNER'>;
}

export interface IssuerSettings {
  /** Part of the addresses `/sign-in/<name>` and `/sign-in/<name>/callback`, and shown on the button. */
  name: string;
  issuer: string;
  client_id: string;
  client_secret: string;
  /** The claim that says whether the address is verified. */
  email_verified_claim: string;
  groups_claim?: string;
  groups: GroupRole[];
}

const text = { type: 'string', minLength: 1, maxLength: 2000 } as const;

const checkIssuers = bodyCheck({
  type: 'array',
  minItems: 1,
  maxItems: 20,
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'issuer', 'client_id', 'client_secret'],
    properties: {
      name: { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$' },
      issuer: text,
      client_id: text,
      client_secret: text,
      email_verified_claim: { ...text, default: 'email_verified' },
      groups_claim: text,
      groups: {
        type: 'array',
        default: [],
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['group', 'tenant_id', 'role'],
          properties: {
            group: text,
            tenant_id: { type: 'string', format: 'uuid' },
            role: { type: 'string', enum: ['ADMIN', 'DEVELOPER', 'AUDITOR'] },
          },
        },
      },
    },
  },
});

/** Reads the setting `OIDC_ISSUERS`. @throws {ConfigError} naming every missing or wrong member, but no value. */
export function readIssuers(json: string | undefined): readonly IssuerSettings[] {
  if (json === undefined) return [];
  const issuers = parse(json);
  try {
    checkIssuers(issuers);
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.errors) throw error;
    throw new ConfigError(Object.entries(error.errors).map(([path, faults]) => faultAt(path, faults.join(', '))));
  }
  const checked = issuers as IssuerSettings[];
  const faults = checked.flatMap((issuer, i) =>
    faultsOf(issuer, checked.slice(0, i)).map((text) => faultAt(`[${i}].${text}`)),
  );
  if (faults.length > 0) throw new ConfigError(faults);
  return checked;
}

function faultAt(path: string, fault?: string): string {
  const at = `OIDC_ISSUERS${path === '$' ? '' : path}`;
  return fault === undefined ? at : `${at}: ${fault}`;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new ConfigError(['OIDC_ISSUERS: is no JSON']); // without the cause, which would repeat the secrets
  }
}

/** Rules that the schema cannot express. */
function faultsOf({ name, issuer, groups, groups_claim }: IssuerSettings, before: readonly IssuerSettings[]): string[] {
  return [
    ...(before.some((other) => other.name === name) ? ['name: an earlier entry already has it'] : []),
    ...(before.some((other) => other.issuer === issuer) ? ['issuer: an earlier entry already has it'] : []),
    ...(isIssuer(issuer)
      ? []
      : ['issuer: must be an https address without query or fragment (http on localhost only)']),
    ...(groups.length > 0 && groups_claim === undefined ? ['groups_claim: is required with groups'] : []),
  ];
}

/** OpenID Connect Discovery 1.0, section 3. Requires https, because secrets are sent to it. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (!url || /[?#\s\\]/.test(text) || url.username !== '' || url.password !== '') return false;
  const isLocal = url.hostname === 'localhost' || url.hostname === '127.0.0.1';
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal);
}

/** The highest role in each Tenant that these groups give. */
export function rolesOf(
  { groups: mapped }: Pick<IssuerSettings, 'groups'>,
  groups: readonly string[],
): Map<string, GroupRole['role']> {
  const found = new Map<string, GroupRole['role']>();
  for (const role of ['AUDITOR', 'DEVELOPER', 'ADMIN'] as const) {
    for (const each of mapped) if (each.role === role && groups.includes(each.group)) found.set(each.tenant_id, role);
  }
  return found;
}
