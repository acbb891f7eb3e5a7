export type { AccessRule, RuleCondition, RuleTransform } from './access-rule.ts';
export { canonicalContainer, containerForm, containerPattern, covers } from './containers.ts';
export { type DecidedOn, decide, type Grants, holds, isGrantedOnEach } from './decide.ts';
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
