export { canonicalContainer, containerForm, containerPattern, covers } from './containers.ts';
export {
  type AccessRule,
  type DecidedOn,
  decide,
  type Grants,
  holds,
  isGrantedOnEach,
  type RuleCondition,
  type RuleTransform,
} from './decide.ts';
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
