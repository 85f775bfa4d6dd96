import { Description, FieldError, Input, Label, TextArea, TextField } from "@heroui/react";

/** A labelled line or, with rows, a box of text. */
export function Field({
  label,
  value,
  onChange,
  rows,
  description,
  error,
  placeholder,
  type = "text",
  isRequired = false,
  autoFocus = false,
  className = "",
  list,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  rows?: number;
  description?: string;
  error?: string;
  placeholder?: string;
  type?: string;
  isRequired?: boolean;
  autoFocus?: boolean;
  className?: string;
  /** The id of a list of suggestions. */
  list?: string;
}) {
  return (
    <TextField
      className={`w-full ${className}`}
      value={value}
      onChange={onChange}
      type={type}
      isRequired={isRequired}
      isInvalid={error !== undefined}
      autoFocus={autoFocus}
      validationBehavior="aria"
    >
      <Label>{label}</Label>
      {rows === undefined ? (
        <Input placeholder={placeholder} list={list} />
      ) : (
        <TextArea rows={rows} placeholder={placeholder} dir="auto" />
      )}
      {description !== undefined && <Description>{description}</Description>}
      {error !== undefined && <FieldError>{error}</FieldError>}
    </TextField>
  );
}
