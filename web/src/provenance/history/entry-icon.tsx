import { Cloud, Cpu, Eraser, FileDown, Pencil, Trash2, Undo2 } from 'lucide-react'

const ICONS: Readonly<Record<string, typeof Cpu>> = {
  http: Cloud,
  write: Pencil,
  import: FileDown,
  delete: Trash2,
  erase: Eraser,
  revert: Undo2,
}

/** The icon of the source of an entry. */
export function EntryIcon({ source }: { readonly source: string }) {
  const Icon = ICONS[source] ?? Cpu
  return (
    <span className={`happening-icon ${source}`} title={source}>
      <Icon size={13} aria-hidden="true" />
    </span>
  )
}
