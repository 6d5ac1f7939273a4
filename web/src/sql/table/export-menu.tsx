import { Copy, Download } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { writeTsv } from '../../values/tsv.ts'
import { Button } from '../../ui/button.tsx'
import { countOf } from '../../ui/format.ts'
import '../../ui/menu.css'
import { showSuccess, showError } from '../../ui/toasts.tsx'
import { escapeFormula, textOf, toCsv } from './csv.ts'
import type { ResultRow } from './result-columns.ts'
import { fileName, saveFile } from '../../values/save-file.ts'

interface ExportMenuProps {
  /** The name of the file. */
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: readonly ResultRow[]
}

/** Copies or downloads the result. */
export function ExportMenu({ name, columns, rows }: ExportMenuProps) {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(asTsv(columns, rows))
      showSuccess(`${countOf(rows.length, 'row')} copied`)
    } catch {
      showError('The browser blocked copying; download the result instead')
    }
  }
  return (
    <div className="sql-export">
      <Button look="quiet" icon={<Copy size={15} />} onClick={() => void copy()}>
        Copy
      </Button>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger asChild>
          <Button look="quiet" icon={<Download size={15} />}>
            Download
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" align="end" sideOffset={6}>
            <DropdownMenu.Item
              className="menu-item"
              onSelect={() => saveFile(fileName(name, 'csv'), 'text/csv;charset=utf-8', toCsv(columns, rows))}
            >
              CSV, for spreadsheets
            </DropdownMenu.Item>
            <DropdownMenu.Item
              className="menu-item"
              onSelect={() =>
                saveFile(fileName(name, 'json'), 'application/json', `${JSON.stringify(rows, null, 2)}\n`)
              }
            >
              JSON, for programs
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </div>
  )
}

function asTsv(columns: readonly string[], rows: readonly ResultRow[]): string {
  const cell = (value: unknown): string | null => (value === null ? null : escapeFormula(textOf(value)))
  return writeTsv([columns.map(escapeFormula), ...rows.map((row) => columns.map((name) => cell(row[name])))])
}
