import { TabLinks } from '../../ui/tabs.tsx';

/** Above the lists of Reactors and of formulas. */
export function ReactorTabs() {
  return (
    <TabLinks
      label="Reactors and formulas"
      tabs={[
        { name: 'Reactors', link: { to: '/reactors' } },
        { name: 'Formulas', link: { to: '/reactors/formulas' } },
      ]}
    />
  );
}
