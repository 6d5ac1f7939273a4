export interface HeadColumn {
  readonly name: string
  /** What it means, for the tooltip. */
  readonly title?: string
  readonly className?: string
}

/** The heads of a table. The roles are said, since a table that is laid out as cards is none for some browsers. */
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
