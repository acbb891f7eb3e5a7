export type { AccessRule, RuleCondition, RuleTransform } from './access-rule.ts';
export { type AllowedCalls, allowsPath, faultInAllowedPath, refusedBy } from './allowed-calls.ts';
export { canonicalContainer, containerForm, containerPattern, covers } from './containers.ts';
export { decide, holds, isGrantedOnEach } from './decide.ts';
export { type DecidedOn, type Explanation, explain, type Grants } from './explain.ts';
export { type CallDecision, explainCall, mayInvoke } from './explain-call.ts';
export {
  type ApplicationType,
  applicationTypes,
  isHoldable,
  type Permission,
  type PermissionType,
  permissions,
  permissionsFor,
} from './permissions.ts';
export { type Giver, mayGive, permissionsLackedBy, permissionsOf, type Role, roles } from './roles.ts';
export { seesMoreIn } from './sight.ts';
