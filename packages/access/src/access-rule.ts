export type RuleTransform = 'redact' | 'mask' | 'reveal';

export interface RuleCondition {
  attribute: 'id' | 'container';
  operator: 'starts_with' | 'equals';
  value: string;
}

export interface AccessRule {
  description?: string;
  /** From 1; a higher value has lower precedence. */
  priority: number;
  /** A rule with neither container nor conditions reaches every container. */
  container?: string;
  conditions?: readonly RuleCondition[];
  transform: RuleTransform;
  permissions: readonly string[];
}
