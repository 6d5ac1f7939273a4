import { BookOpen } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useRef } from 'react'
import { Button } from '../ui/button.tsx'
import '../ui/menu.css'
import type { Example } from './examples.ts'

interface ExamplesMenuProps {
  readonly examples: readonly Example[]
  readonly onPick: (sql: string) => void
}

/** The menu of example statements. */
export function ExamplesMenu({ examples, onPick }: ExamplesMenuProps) {
  const picked = useRef<string>(null)
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button look="quiet" icon={<BookOpen size={15} />}>
          Examples
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className="menu"
          align="start"
          sideOffset={6}
          onCloseAutoFocus={(event) => {
            if (picked.current === null) return
            // The focus moves into the editor instead of back to the button.
            event.preventDefault()
            onPick(picked.current)
            picked.current = null
          }}
        >
          {examples.map(({ name, sql }) => (
            <DropdownMenu.Item key={name} className="menu-item" onSelect={() => (picked.current = sql)}>
              {name}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
