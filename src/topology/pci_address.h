// PCI addresses, written alike: "0000:3b:00.0".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gridfold {

// Reads DOMAIN:BUS:DEVICE.FUNCTION in hexadecimal, the domain of 4 to 8 digits
// ("00000000:3B:00.0" is how NVIDIA's tools write it). Gives lower case, with
// no more than 4 digits of domain where those suffice. kInvalid.
Result<std::string> parse_pci_address(std::string_view text);

// Domain, bus and device of a parsed address: functions of one device share it.
std::string_view pci_slot(std::string_view address);

}  // namespace gridfold
