import { useState } from 'react';
import { Combo } from '../../ui/combo.tsx';
import { Filters, Find } from '../../ui/filters.tsx';
import { Picker } from '../../ui/picker.tsx';
import type { InvocationSearch } from './invocation-search.ts';

interface InvocationFiltersProps {
  filters: InvocationSearch;
  onFilters: (filters: InvocationSearch) => void;
}

export function InvocationFilters({ filters, onFilters }: InvocationFiltersProps) {
  const { proxy_id: proxy, reactor_id: reactor, application_id: application } = filters;
  /** An entry is of a Proxy or of a Reactor, so that one of the two replaces the other. */
  const filterBy =
    (name: keyof InvocationSearch, other?: keyof InvocationSearch) =>
    (value: string | undefined): void => {
      const { [name]: _former, ...rest } = filters;
      if (other && value) delete rest[other as keyof typeof rest];
      onFilters({ ...rest, ...(value && { [name]: value }) });
    };
  return (
    <Filters onClear={Object.keys(filters).length > 0 ? () => onFilters({}) : undefined}>
      <Picker
        {...{ isFilter: true, of: 'proxies', label: 'Proxy', placeholder: 'All' }}
        value={proxy}
        onValue={filterBy('proxy_id', 'reactor_id')}
      />
      <Picker
        {...{ isFilter: true, of: 'reactors', label: 'Reactor', placeholder: 'All' }}
        value={reactor}
        onValue={filterBy('reactor_id', 'proxy_id')}
      />
      <Picker
        {...{ isFilter: true, of: 'applications', label: 'Application', placeholder: 'All' }}
        value={application}
        onValue={filterBy('application_id')}
      />
      <StatusFilter value={filters.status} onValue={filterBy('status')} />
      <Find label="Trace" value={filters.trace_id ?? ''} placeholder="Trace id" live onValue={filterBy('trace_id')} />
    </Filters>
  );
}

const classes = [
  { id: '2xx', name: '2xx success' },
  { id: '3xx', name: '3xx redirect' },
  { id: '4xx', name: '4xx refused' },
  { id: '5xx', name: '5xx failed' },
];

/** A class of statuses, or one that is typed. */
function StatusFilter({
  value,
  onValue,
}: {
  value: string | undefined;
  onValue: (status: string | undefined) => void;
}) {
  const [typed, setTyped] = useState('');
  const exact = /^[1-9]\d\d$/.test(typed) ? [{ id: typed, name: typed }] : [];
  const options = [...exact, ...classes.filter(({ name }) => name.startsWith(typed.toLowerCase().slice(0, 1)))];
  return (
    <Combo
      isFilter
      label="Status"
      placeholder="All"
      value={value === undefined ? undefined : (classes.find(({ id }) => id === value) ?? { id: value, name: value })}
      options={options}
      note={exact.length === 0 ? 'Or type a status, such as 404.' : undefined}
      onTyped={setTyped}
      onValue={onValue}
    />
  );
}
