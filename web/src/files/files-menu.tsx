import { FileDown } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useLocation } from 'wouter'
import { Button } from '../ui/button.tsx'
import { countOf } from '../ui/format.ts'
import '../ui/menu.css'
import { DELETED_PAGE } from '../ui/pages.ts'
import { showError } from '../ui/toasts.tsx'
import { chooseFile } from './import-store.ts'
import { EXPORT_FORMATS, exportView, type ExportFormat, type ShownView } from './export-view.ts'

interface FilesMenuProps {
  readonly view: ShownView
  /** The number of records of the view; null while it is unknown. */
  readonly count: number | null
}

/** The menu of files: the import of one, and the view as a file, in each format. */
export function FilesMenu({ view, count }: FilesMenuProps) {
  const [, navigate] = useLocation()
  const columns = countOf(view.fields.length, 'column')
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <Button look="quiet" icon={<FileDown size={15} />} aria-label="Files">
          <span className="grid-button-text">Files</span>
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={6} collisionPadding={8}>
          <DropdownMenu.Item className="menu-item" onSelect={chooseFile}>
            Import a file…
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item" onSelect={() => navigate(DELETED_PAGE.path)}>
            {DELETED_PAGE.name}
          </DropdownMenu.Item>
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.Label className="menu-label">
            {count === null ? `Export ${columns}` : `Export ${countOf(count, 'record')}, ${columns}`}
          </DropdownMenu.Label>
          {Object.entries(EXPORT_FORMATS).map(([format, name]) => (
            <DropdownMenu.Item
              key={format}
              className="menu-item"
              onSelect={() => void exportView(format as ExportFormat, view).catch(showError)}
            >
              {name}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
