import { permissions } from '@sluice/access';
import type { OpenApiDocument, Part } from '@sluice/http-api';

const named = { $ref: '#/components/schemas/PermissionName' };

/**
 * The document with one schema for the names of permissions, so that a misspelt one does not compile and is noticed
 * before anything is sent. The service itself takes any text and answers which names the Application's type can hold.
 */
export function withPermissionNames(document: OpenApiDocument): OpenApiDocument {
  const { components, ...rest } = structuredClone(document);
  const schemas = (components.schemas ?? {}) as Record<string, Part>;
  for (const [name, { properties }] of Object.entries(schemas)) {
    const { permissions: list, type } = (properties ?? {}) as Record<string, Part>;
    if (list) list.items = named;
    if (name === 'Permission' && type) Object.assign(type, { ...named, type: undefined });
  }
  schemas.PermissionName = {
    type: 'string',
    description: 'The name of a permission.',
    enum: permissions.map((permission) => permission.type),
  };
  return { ...rest, components: { ...components, schemas } };
}
