export interface HeadColumn {
  readonly name: string
  /** The tooltip. */
  readonly title?: string
  readonly className?: string
}

/**
 * The head of a table. The roles are explicit, because some browsers drop them for tables that CSS lays out as cards.
 */
export function TableHead({ columns }: { readonly columns: readonly HeadColumn[] }) {
  return (
    <thead role="rowgroup">
      <tr role="row">
        {columns.map(({ name, title, className }) => (
          <th key={name} scope="col" role="columnheader" title={title} className={className}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}
