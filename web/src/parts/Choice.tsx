import { Description, Label, ListBox, Select } from "@heroui/react";

export interface Option<Id extends string = string> {
  id: Id;
  label: string;
  note?: string;
}

/** One of several options. */
export function Choice<Id extends string>({
  label,
  isLabelHidden = false,
  options,
  value,
  onChange,
  description,
  className = "",
  isDisabled = false,
}: {
  label: string;
  isLabelHidden?: boolean;
  options: Option<Id>[];
  value: Id;
  onChange: (id: Id) => void;
  description?: string;
  className?: string;
  isDisabled?: boolean;
}) {
  return (
    <Select
      className={className}
      value={value}
      isDisabled={isDisabled}
      onChange={(key) => {
        const chosen = options.find((option) => option.id === key);
        if (chosen !== undefined) onChange(chosen.id);
      }}
      {...(isLabelHidden ? { "aria-label": label } : {})}
    >
      {!isLabelHidden && <Label>{label}</Label>}
      <Select.Trigger>
        <Select.Value>
          {({ selectedText, defaultChildren }) => selectedText || defaultChildren}
        </Select.Value>
        <Select.Indicator />
      </Select.Trigger>
      {description !== undefined && <Description>{description}</Description>}
      <Select.Popover className="max-h-80">
        <ListBox>
          {options.map((option) => (
            <ListBox.Item key={option.id} id={option.id} textValue={option.label}>
              <span className="said min-w-0 flex-1">{option.label}</span>
              {option.note !== undefined && <span className="caption number">{option.note}</span>}
              <ListBox.ItemIndicator />
            </ListBox.Item>
          ))}
        </ListBox>
      </Select.Popover>
    </Select>
  );
}
