import { Tabs } from 'radix-ui'
import type { ReactNode } from 'react'

interface EditAsTabsProps {
  readonly view: string
  readonly onView: (view: string) => void
  readonly className: string
  readonly form: ReactNode
  readonly yaml: ReactNode
  /** The class of the part with the text. */
  readonly yamlClassName?: string
}

/** The same file as a form and as text. */
export function EditAsTabs({ view, onView, className, form, yaml, yamlClassName }: EditAsTabsProps) {
  return (
    <Tabs.Root value={view} onValueChange={onView} activationMode="manual" className={className}>
      <Tabs.List className="panel-tab-list" aria-label="Edit as">
        <Tabs.Trigger value="form">Form</Tabs.Trigger>
        <Tabs.Trigger value="yaml">YAML</Tabs.Trigger>
      </Tabs.List>
      <Tabs.Content value="form" tabIndex={-1}>
        {form}
      </Tabs.Content>
      <Tabs.Content value="yaml" tabIndex={-1} className={yamlClassName}>
        {yaml}
      </Tabs.Content>
    </Tabs.Root>
  )
}
