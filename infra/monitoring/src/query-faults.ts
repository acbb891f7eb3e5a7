import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import type { ExportedMetrics } from './exported-metrics.ts';

/** Labels that Prometheus adds to the series that it scrapes. */
const labelsOfTargets = ['job', 'instance', '__name__'];
/** Made by Prometheus itself for each target. */
const ownMetrics = new Map([['up', new Set<string>()]]);

/** Faults of a query: bad syntax, metrics that no process exports, labels that they do not have. */
export function queryFaults(query: string, { series }: ExportedMetrics): string[] {
  // Grafana's variables, replaced by durations of the same kind.
  const text = query.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h');
  const { topNode } = parser.parse(text);
  const faults = new Set<string>();
  const textOf = ({ from, to }: SyntaxNode) => text.slice(from, to);

  function checkLabels(names: readonly string[], node: SyntaxNode): void {
    for (const selector of descendants(node, 'VectorSelector')) {
      const metric = nameOf(selector);
      const known = metric === undefined ? undefined : (series.get(metric) ?? ownMetrics.get(metric));
      if (!known) continue;
      for (const name of names) {
        if (!known.has(name) && !labelsOfTargets.includes(name)) faults.add(`${metric} has no label ${name}`);
      }
    }
  }

  function nameOf(selector: SyntaxNode): string | undefined {
    const identifier = selector.getChild('Identifier');
    return identifier ? textOf(identifier) : undefined;
  }

  const labelNames = (node: SyntaxNode | null) => (node ? descendants(node, 'LabelName').map(textOf) : []);

  topNode.cursor().iterate(({ node, type }) => {
    if (type.isError) faults.add(`is no PromQL at ${node.from}: ${text.slice(node.from, node.from + 20)}`);
    if (node.name === 'VectorSelector') {
      const metric = nameOf(node);
      if (metric === undefined) faults.add(`names no metric: ${textOf(node)}`);
      else if (!series.has(metric) && !ownMetrics.has(metric)) faults.add(`nobody exports ${metric}`);
      checkLabels(labelNames(node.getChild('LabelMatchers')), node);
    }
    if (node.name === 'AggregateExpr') {
      const body = node.getChild('FunctionCallBody');
      if (body) checkLabels(labelNames(node.getChild('AggregateModifier')), body);
    }
    if (node.name === 'BinaryExpr') {
      const clause = node.getChild('MatchingModifierClause');
      if (clause?.getChild('On')) checkLabels(labelNames(clause.getChild('GroupingLabels')), node);
    }
    if (node.name === 'FunctionCall' && textOf(node).startsWith('histogram_quantile')) {
      for (const selector of descendants(node, 'VectorSelector')) {
        if (!nameOf(selector)?.endsWith('_bucket')) faults.add('histogram_quantile needs a _bucket');
      }
      for (const aggregate of descendants(node, 'AggregateExpr')) {
        if (!labelNames(aggregate.getChild('AggregateModifier')).includes('le'))
          faults.add('histogram_quantile needs le');
      }
    }
  });
  return [...faults];
}

function descendants(node: SyntaxNode, name: string): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  node.cursor().iterate((one) => {
    if (one.name === name) found.push(one.node);
  });
  return found;
}
