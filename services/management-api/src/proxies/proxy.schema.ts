import { listProxyMembers, type ProxyMemberName, type ProxyMembers, proxyMembers } from '@sluice/database';
import { mergePatchOf, orNull } from '@sluice/http-api';
import { authorship, example, uuid } from '../resource.schema.ts';

type Bodies = { [M in ProxyMemberName]: ProxyMembers[M]['schema'] };
type Required = { [M in ProxyMemberName]: ProxyMembers[M]['absent'] extends 'refused' ? M : never }[ProxyMemberName];

const members = listProxyMembers();

const sample = Object.fromEntries(
  members.flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])),
);

/** Also checks the result of a merge patch. */
export const proxyBody = {
  type: 'object',
  title: 'ProxyBody',
  required: members.filter(([, { absent }]) => absent === 'refused').map(([name]) => name as Required),
  examples: [sample],
  properties: Object.fromEntries(members.map(([name, { schema }]) => [name, schema])) as Bodies,
} as const;

/** Members that a PUT keeps where they are not named. */
const keptMembers = Object.fromEntries(
  members.flatMap(([name, { absent, schema }]) => (absent === 'kept' ? [[name, orNull(schema)]] : [])),
);

/** Accepts `application_id` too, so that a response can be sent back. */
export const proxyPutBody = {
  ...proxyBody,
  title: 'ProxyPut',
  properties: {
    ...proxyBody.properties,
    ...keptMembers,
    application: {
      ...proxyBody.properties.application,
      type: ['object', 'null'],
      description: `${proxyBody.properties.application.description}. Null: none`,
    },
    application_id: { ...uuid, type: ['string', 'null'], description: 'Used only if the body has no `application`' },
  },
} as const;

/** The result of the merge is checked as a body. */
export const proxyPatchBody = mergePatchOf(proxyPutBody, {
  title: 'ProxyPatch',
  description: 'The fields of ProxyPut. All are optional. Null removes a field.',
  examples: [{ name: 'Payment processor, new', configuration: { MERCHANT: 'acct_20932' }, response_transform: null }],
});

/** Named as in responses. */
const answered = Object.fromEntries(
  members.map(([name, { kept, column, schema, answered }]) => {
    const { default: _, ...always } = schema;
    return [kept === 'reference' ? column : name, answered ?? always];
  }),
);

const always = members
  .filter(([name, { absent }]) => (absent === 'refused' || absent === 'default') && name !== 'name')
  .map(([name]) => name);

export const proxy = {
  type: 'object',
  title: 'Proxy',
  description: 'An endpoint that forwards requests to one destination.',
  examples: [
    {
      id: '3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73',
      tenant_id: example.tenant_id,
      key: 'ExampleProxyKeyExampleProxyKey00',
      ...sample,
      application_id: example.application_id,
      ...example.authorship,
    },
  ],
  required: ['id', 'tenant_id', 'name', 'key', ...always],
  properties: {
    id: uuid,
    tenant_id: { ...uuid, description: 'Id of the Tenant' },
    name: proxyMembers.name.schema,
    key: { type: 'string', description: 'Key of the Proxy. Callers send it to invoke the Proxy' },
    ...answered,
    former_application_id: {
      ...uuid,
      description:
        'Id of the Application of the Proxy. Present only if this Application was deleted or has expired. The code of the Proxy has no `req.svc` until you set another Application',
    },
    ...authorship,
  },
} as const;
