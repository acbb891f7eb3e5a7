export { canonicalContainer, containerPattern, covers } from './containers.ts';
export { type AccessRule, decide, type Grants, holds, isGrantedOnEach, type RuleTransform } from './decide.ts';
export {
  type ApplicationType,
  applicationTypes,
  isHoldable,
  type Permission,
  type PermissionType,
  permissions,
  permissionsFor,
} from './permissions.ts';
export { seesMoreIn } from './sight.ts';
