import { FileDown } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import type { SheetContract } from '../api/contract.ts'
import { showError } from '../ui/toasts.tsx'
import './import-host.css'
import { openImport, useChosenFile } from './import-store.ts'

const ImportDialog = lazy(() => import('./import-dialog.tsx'))

interface ImportHostProps {
  readonly contract: SheetContract
  /** Whether columns can become new fields. */
  readonly mayAddFields: boolean
}

/** Takes files that are dropped on the page, and shows the dialog that imports one; mounted once. */
export function ImportHost(props: ImportHostProps) {
  const chosen = useChosenFile()
  const isOver = useFileDrop()
  return (
    <>
      {isOver && (
        <div className="file-drop" role="status">
          <p>
            <FileDown size={22} /> Drop a file to import its records
          </p>
        </div>
      )}
      {chosen !== null && (
        <Suspense>
          <ImportDialog key={chosen.number} file={chosen.file} {...props} onClose={() => openImport(null)} />
        </Suspense>
      )}
    </>
  )
}

/** Opens the dialog for a dropped file; returns whether one is dragged over the page. */
function useFileDrop(): boolean {
  const [isOver, setIsOver] = useState(false)
  useEffect(() => {
    // Entering a child comes before leaving its parent.
    let depth = 0
    const count = (event: DragEvent, next: number): void => {
      if (!hasFiles(event)) return
      event.preventDefault()
      depth = Math.max(0, next)
      setIsOver(depth > 0)
    }
    const enter = (event: DragEvent): void => count(event, depth + 1)
    const leave = (event: DragEvent): void => count(event, depth - 1)
    const over = (event: DragEvent): void => {
      if (hasFiles(event)) event.preventDefault()
    }
    const drop = (event: DragEvent): void => {
      count(event, 0)
      const files = event.dataTransfer?.files
      if (files === undefined || files.length === 0) return
      if (files.length > 1) showError(new Error('Drop one file at a time'))
      else openImport(files[0] ?? null)
    }
    const handlers = { dragenter: enter, dragleave: leave, dragover: over, drop } as const
    for (const [name, handler] of Object.entries(handlers)) addEventListener(name, handler as EventListener)
    return () => {
      for (const [name, handler] of Object.entries(handlers))
        removeEventListener(name, handler as EventListener)
    }
  }, [])
  return isOver
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') ?? false
}
