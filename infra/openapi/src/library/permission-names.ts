import { permissions } from '@sluice/access';
import type { OpenApiDocument, Part } from '@sluice/http-api';

const named = { $ref: '#/components/schemas/PermissionName' };

/**
 * Gives all names of permissions one schema, so that a misspelt one does not compile. The service itself accepts any
 * text, and its error names the permissions that the Application's type can have.
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
